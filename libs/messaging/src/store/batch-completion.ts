import { BATCH_COMPLETED } from '../message/events.js';
import type { Channel } from '../message/message.js';
import type { EventPublisher } from '../ports/event-publisher.js';
import { type CompletionStatements, completionStatements } from './completion.statements.js';
import type { StoreDatabase, Sql } from './store-database.js';

/** What may have been sent is asked after soon, in milliseconds. */
const UNKNOWN_POLL_AFTER = 5_000;

/** Before and after every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface CompletedBatch {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
}

/** Completes the batches of which nothing is left to start, nor under way. */
export class BatchCompletion {
  readonly #sql: CompletionStatements;
  /** Up to which batch the sweep has come. */
  #swept = FIRST;

  constructor(
    private readonly database: StoreDatabase,
    private readonly events: EventPublisher,
    /** Milliseconds after completion until missing reports are asked after. */
    readonly pollAfter: number,
  ) {
    this.#sql = completionStatements(database.dialect);
  }

  /**
   * Those of the batches that are complete with what their transaction did.
   * @param at epoch microseconds
   * @param unknown among them, those to ask after soon
   */
  async after(
    tx: Sql,
    batches: readonly string[],
    at: number,
    unknown: ReadonlySet<string> = new Set(),
  ): Promise<CompletedBatch[]> {
    const ids = [...new Set(batches)].sort().map((id) => [id]);
    if (ids.length === 0) return [];
    const ending = await tx.all<{ id: string }>(this.#sql.lockEnding, this.#sql.ids.bind(ids));
    if (ending.length === 0) return [];
    const done = await tx.all<CompletedBatch>(
      this.#sql.selectCompleted,
      this.#sql.ids.bind(ending.map(({ id }) => [id])),
    );
    if (done.length > 0)
      await this.complete(
        tx,
        done.map(({ id }) => id),
        at,
        unknown,
      );
    return done;
  }

  /**
   * Those of the batches, of which nothing is left to start, that have nothing under way either. Who is
   * just saying what became of their last does not see that it was the last: that is waited for.
   */
  async exhausted(tx: Sql, batches: readonly string[], at: number): Promise<CompletedBatch[]> {
    if (batches.length === 0) return [];
    const ids = [...new Set(batches)].sort().map((id) => [id]);
    await tx.all(this.#sql.lockOpen, this.#sql.ids.bind(ids));
    return this.after(tx, batches, at);
  }

  /**
   * Completes batches by id.
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
      this.#sql.complete,
      this.#sql.completed.bind(ids.map((id) => [id, at, pollAt(id)])),
    );
  }

  /** After the commit. */
  publish(completed: readonly CompletedBatch[]): void {
    for (const { id, tenant, channel } of completed)
      this.events.publish(BATCH_COMPLETED, { tenant, channel: channel as Channel, batchId: id });
  }

  /**
   * Completes what was left behind with nothing to do: the job's safety net. Looks at `limit` batches at
   * a time, round and round.
   * @param at epoch microseconds
   */
  async sweep(limit: number, at: number): Promise<CompletedBatch[]> {
    const from = this.#swept;
    const [last] = await this.database.all<{ id: string }>(this.#sql.window, [from, limit - 1]);
    const to = last?.id ?? LAST;
    const left = await this.database.all<{ id: string }>(this.#sql.left, [from, to]);
    this.#swept = last ? to : FIRST;
    if (left.length === 0) return [];
    const ids = left.map(({ id }) => id);
    const completed = await this.database.transaction((tx) => this.exhausted(tx, ids, at));
    this.publish(completed);
    return completed;
  }
}
