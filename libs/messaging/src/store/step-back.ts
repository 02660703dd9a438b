import type { Sql } from './store-database.js';
import type { Outcome } from './outcome.js';
import type { OutcomeStatements } from './outcome.statements.js';
import { BATCH_STATE } from './batch-state.js';

/**
 * Setting messages back is no fact about the provider but a plan to send again. It is dropped where
 * somebody else has taken the submission over, and becomes `cancelled` where the batch was cancelled.
 */
export async function sortSteps(
  tx: Sql,
  sql: OutcomeStatements,
  outcomes: readonly Outcome[],
): Promise<{ facts: Outcome[]; back: Outcome[]; cancelled: Set<string> }> {
  const facts = outcomes.filter((outcome) => !isStepBack(outcome));
  const cancelled = new Set<string>();
  if (facts.length === outcomes.length) return { facts, back: [], cancelled };
  const steps = outcomes.filter(isStepBack);
  const ids = [...new Set(steps.map(({ batch }) => batch))].map((id) => [id]);
  for (const { id, state } of await tx.all<{ id: string; state: number }>(
    sql.lockBatches,
    sql.ids.bind(ids),
  ))
    if (state === BATCH_STATE.cancelled) cancelled.add(id);
  const open = new Map<string, number>();
  for (const row of await tx.all<{ batch: string; n: number; fence: string | number }>(
    sql.lockSubmissions,
    sql.keys.bind(steps.map(({ batch, n }) => [batch, n])),
  ))
    open.set(`${row.batch}-s${row.n}`, Number(row.fence));
  const back: Outcome[] = [];
  for (const step of steps)
    if (open.get(`${step.batch}-s${step.n}`) === step.fence)
      (step.exhausted || cancelled.has(step.batch) ? facts : back).push(step);
  return { facts, back, cancelled };
}

/** `failed` is our plan as well: to send no more. */
function isStepBack({ result }: Outcome): boolean {
  return result === 'withdrawn' || result === 'refused';
}
