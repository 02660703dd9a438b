import { BATCH_COMPLETED } from '../../message/events.js';
import type { Channel } from '../../message/message.js';
import type { EventPublisher } from '../../ports/listeners.js';
import { endCounts, LARGE_BATCH } from '../rows/batch-counts.js';
import { BATCH_STATE, COMPLETED, isDraining } from '../rows/batch-state.js';
import { type Dialect, updater } from '../database/dialect.js';
import type { Sql } from '../database/sql.js';

/** Milliseconds until the poll for messages with an unknown submit outcome. */
const UNKNOWN_POLL_AFTER = 5_000;

export interface CompletedBatch {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
}

/**
 * Completes batches that have nothing left to start and no unanswered submission, in the transaction that
 * starts their last message or closes their last submission, and stores the counts of large ones,
 * also of those that were cancelled. A batch that was taken up again for
 * another try keeps the time of its first completion, which alone is announced.
 */
export class BatchCompletion {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #endCounts: ReturnType<typeof endCounts>;

  constructor(
    dialect: Dialect,
    private readonly events: EventPublisher,
    /** Milliseconds from completion to the first poll for missing reports. */
    readonly pollAfter: number,
  ) {
    this.#sql = statementsFor(dialect);
    this.#endCounts = endCounts(dialect);
  }

  /**
   * `at`: epoch microseconds; batches in `unknown` are polled soon.
   * @returns those that complete for the first time
   */
  async after(
    tx: Sql,
    batches: readonly string[],
    at: number,
    unknown: ReadonlySet<string> = new Set(),
  ): Promise<CompletedBatch[]> {
    if (batches.length === 0) return [];
    const { lockEnding, selectDone, complete, ids } = this.#sql;
    const ending = await tx.all<{ id: string }>(lockEnding, ids.bind(keysOf(batches)));
    if (ending.length === 0) return [];
    const ended = await tx.all<EndedBatch>(selectDone, ids.bind(ending.map(({ id }) => [id])));
    const large = ended.filter(({ recipients }) => recipients > LARGE_BATCH);
    await this.#endCounts(
      tx,
      large.map(({ id }) => id),
    );
    const done = ended.filter(({ state }) => state === BATCH_STATE.draining);
    if (done.length === 0) return [];
    const soon = Math.min(this.pollAfter, UNKNOWN_POLL_AFTER);
    const pollAt = (id: string) => at + (unknown.has(id) ? soon : this.pollAfter) * 1_000;
    await complete(
      tx,
      done.map(({ id }) => [id, at, pollAt(id)]),
    );
    return done
      .filter(({ completedBefore }) => completedBefore === null)
      .map(({ id, tenant, channel }) => ({ id, tenant, channel }));
  }

  /** Waits for concurrent closes of submissions: none of them can see that it is the last one. */
  async exhausted(tx: Sql, batches: readonly string[], at: number): Promise<CompletedBatch[]> {
    if (batches.length === 0) return [];
    await tx.all(this.#sql.lockUnanswered, this.#sql.ids.bind(keysOf(batches)));
    return this.after(tx, batches, at);
  }

  publish(completed: readonly CompletedBatch[]): void {
    for (const { id, tenant, channel } of completed)
      this.events.publish(BATCH_COMPLETED, { tenant, channel: channel as Channel, batchId: id });
  }
}

interface EndedBatch extends CompletedBatch {
  readonly state: number;
  readonly recipients: number;
  readonly completedBefore: string | number | null;
}

/** In the order of the locks. */
function keysOf(batches: readonly string[]): string[][] {
  return [...new Set(batches)].toSorted().map((id) => [id]);
}

function statementsFor(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const isEnding = dialect.residual(
    `(${isDraining('b')} OR (b.state = ${BATCH_STATE.cancelled} AND b.recipient_count > ${LARGE_BATCH}))`,
  );
  return {
    ids,
    // The second of two processes that settle the last two submissions at once waits here.
    lockEnding: `SELECT b.id FROM ${ids.keyed} ${dialect.join} messaging_batch b ${dialect.forceIndex('PRIMARY')} ON b.id = v_id
      WHERE ${isEnding}
      ORDER BY b.id ${dialect.forUpdate('b')}`,
    lockUnanswered: `SELECT s.n FROM ${ids.keyed}
      ${dialect.join} messaging_submission s ${dialect.forceIndex('PRIMARY')} ON s.batch = v_id
      WHERE ${dialect.residual('s.outcome IS NULL')}
      ORDER BY s.batch, s.n ${dialect.forUpdate('s')}`,
    selectDone: `SELECT b.id, b.tenant, b.channel, b.state, b.recipient_count AS recipients,
        b.completed_at AS "completedBefore"
      FROM ${ids.keyed} ${dialect.join} messaging_batch b ON b.id = v_id
      WHERE ${isEnding}
        AND NOT EXISTS (SELECT 1 FROM messaging_submission s WHERE s.batch = b.id AND s.outcome IS NULL)`,
    complete: updater(
      dialect,
      { v_id: 'uuid', v_at: 'bigint', v_poll_at: 'bigint' },
      {
        table: 'messaging_batch',
        set: `${COMPLETED}, completed_at = v_at, poll_at = v_poll_at`,
        where: `messaging_batch.id = v_id AND ${dialect.residual(isDraining('messaging_batch'))}`,
      },
    ),
  };
}
