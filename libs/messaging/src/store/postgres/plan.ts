import { type NextDueRow, dueIn, nextDueOf, planOf } from '../verbs/plan.js';
import type { PlanRow } from '../rows/planned-batch.js';
import { type FastPaths, MOST_PLANNED } from '../store.js';
import { POSTGRES_DIALECT } from './dialect.js';

const lanes = POSTGRES_DIALECT.rows({ v_lane: 'key', v_limit: 'int' });

const PLAN = `SELECT v_lane AS lane, planned.* FROM ${lanes.keyed}
  CROSS JOIN LATERAL (${planOf(POSTGRES_DIALECT, 'v_lane', 'v_limit', { most: MOST_PLANNED })}) AS planned
  ORDER BY v_lane, priority, available_at, id, chunk_n`;

const NEXT_DUE = `SELECT v_lane AS lane, (${nextDueOf(POSTGRES_DIALECT, 'v_lane')}) AS due_in FROM ${lanes.sql}`;

/** Gain: see `lanes.ts`. The other servers have no LATERAL and read lane by lane. */
export const plan: NonNullable<FastPaths['plan']> = (sql, requests) =>
  sql.all<PlanRow>(PLAN, lanes.bind(requests.map(({ lane, limit }) => [lane, limit])));

export const nextDue: NonNullable<FastPaths['nextDue']> = async (sql, names) => {
  const rows = await sql.all<NextDueRow & { lane: string }>(
    NEXT_DUE,
    lanes.bind(names.map((lane) => [lane, null])),
  );
  return new Map(rows.map((row) => [row.lane, dueIn(row)]));
};
