import type { Sql } from './ledger-database.js';
import type { Outcome } from './outcome.js';
import type { OutcomeStatements } from './outcome.statements.js';

/** What may have been sent is asked after soon, in milliseconds. */
const UNKNOWN_POLL_AFTER = 5_000;

export interface CompletedBatch {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
}

/** Completes the batches of which nothing is left to start, nor under way. */
export class BatchCompletion {
  constructor(
    private readonly sql: OutcomeStatements,
    /** Milliseconds after completion until missing reports are asked after. */
    private readonly pollAfter: number,
  ) {}

  /** Those of the outcomes' batches that are complete with them. */
  async after(tx: Sql, outcomes: readonly Outcome[], at: number): Promise<CompletedBatch[]> {
    const ids = [...new Set(outcomes.map(({ batch }) => batch))].sort().map((id) => [id]);
    if (ids.length === 0) return [];
    const ending = await tx.all<{ id: string }>(this.sql.lockEnding, this.sql.ids.bind(ids));
    if (ending.length === 0) return [];
    const done = await tx.all<CompletedBatch>(
      this.sql.selectCompleted,
      this.sql.ids.bind(ending.map(({ id }) => [id])),
    );
    if (done.length === 0) return done;
    const unknown = new Set(
      outcomes.flatMap(({ batch, result }) => (result === 'unknown' ? [batch] : [])),
    );
    await this.complete(
      tx,
      done.map(({ id }) => id),
      at,
      unknown,
    );
    return done;
  }

  /**
   * Completes batches by id.
   * @param unknown among them, those to ask after soon
   * @returns how many were still under way
   */
  complete(
    tx: Sql,
    ids: readonly string[],
    at: number,
    unknown: ReadonlySet<string> = new Set(),
  ): Promise<number> {
    const soon = Math.min(this.pollAfter, UNKNOWN_POLL_AFTER);
    const pollAt = (id: string) => at + (unknown.has(id) ? soon : this.pollAfter) * 1_000;
    return tx.run(
      this.sql.complete,
      this.sql.completed.bind(ids.map((id) => [id, at, pollAt(id)])),
    );
  }
}
