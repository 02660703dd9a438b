import type { StoreDatabase } from '../database/store-database.js';
import { hasLane } from '../rows/hold.js';

/**
 * Requests without an outcome in lanes that a process works on. A request that a dead process left
 * is not counted: the next holder of its lane decides about it.
 * @param lanes as of a hold
 */
export async function requestsInFlight(database: StoreDatabase, lanes: string): Promise<number> {
  const rows = await database.all<{ lane: string; requests: string | number }>(
    `SELECT l.lane_key AS lane, count(*) AS requests
     FROM messaging_submission s JOIN messaging_batch b ON b.id = s.batch
     JOIN messaging_lane l ON l.lane_key = b.lane
     WHERE s.outcome IS NULL AND l.owner IS NOT NULL AND l.lease_until >= ${database.dialect.now}
     GROUP BY l.lane_key`,
  );
  return rows.reduce(
    (sum, { lane, requests }) => sum + (hasLane(lanes, lane) ? Number(requests) : 0),
    0,
  );
}
