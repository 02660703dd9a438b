import { PLANNED_COLUMNS, planOf } from '../verbs/plan.js';
import type { PlanRow } from '../rows/planned-batch.js';
import { type FastPaths, MOST_PLANNED, type PlanRequest } from '../store.js';
import { POSTGRES_DIALECT } from './dialect.js';

const lanes = POSTGRES_DIALECT.rows<PlanRequest>({
  v_lane: ['key', ({ lane }) => lane],
  v_limit: ['int', ({ limit }) => limit],
});

const PLAN = `SELECT ${PLANNED_COLUMNS} FROM ${lanes.keyed}
  CROSS JOIN LATERAL (${planOf(POSTGRES_DIALECT, 'v_lane', 'v_limit', { most: MOST_PLANNED, placed: true })}) AS planned
  ORDER BY v_lane, priority, available_at, id, chunk_n`;

/** Gain: see `lanes.ts`. The other servers have no LATERAL and read lane by lane. */
export const plan: FastPaths['plan'] = (sql, requests) =>
  sql.all<PlanRow>(PLAN, lanes.bind(requests));
