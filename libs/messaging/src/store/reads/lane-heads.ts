import { HAS_WORK, PRIORITY } from '../rows/batch-state.js';

/** Steps from lane to lane where grouping would scan the index: the cost grows with the lanes. */
export const STEPPING_LANE_HEADS = `WITH RECURSIVE waiting (lane) AS (
    SELECT min(lane) FROM messaging_batch WHERE ${HAS_WORK}
    UNION ALL
    SELECT (SELECT min(b.lane) FROM messaging_batch b WHERE b.${HAS_WORK} AND b.lane > w.lane)
    FROM waiting w WHERE w.lane IS NOT NULL
  ),
  priorities AS (
    SELECT w.lane, p.priority FROM waiting w
    CROSS JOIN (SELECT ${PRIORITY.high} AS priority UNION ALL SELECT ${PRIORITY.normal}) p
    WHERE w.lane IS NOT NULL
  ),
  heads AS (
    SELECT p.lane, p.priority, (SELECT min(b.available_at) FROM messaging_batch b
      WHERE b.${HAS_WORK} AND b.lane = p.lane AND b.priority = p.priority AND b.parked_until = 0) AS due_at
    FROM priorities p
    UNION ALL
    SELECT p.lane, p.priority, (SELECT min(b.parked_until) FROM messaging_batch b
      WHERE b.${HAS_WORK} AND b.lane = p.lane AND b.priority = p.priority AND b.parked_until > 0)
    FROM priorities p
  )`;
