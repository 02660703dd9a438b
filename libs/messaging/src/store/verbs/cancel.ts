import { AlreadySentError } from '../../message/errors.js';
import { STATUS_RANK } from '../../message/status.js';
import type { BatchView } from '../../message/views.js';
import type { AlsoOption } from '../database/sql.js';
import type { Clock } from '../../ports/clock.js';
import { CANCELLED, stateOf } from '../rows/batch-state.js';
import type { BatchScope } from '../rows/cursor.js';
import type { Reads } from '../reads/reads.js';
import { HELD_COLUMNS, type HeldMessage, isQueued, raise } from '../rows/status.js';
import type { BatchCompletion } from '../upkeep/completion.js';
import type { StatusWriter } from './status-writer.js';
import type { StoreDatabase } from '../database/store-database.js';

export class BatchChanges {
  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly clock: Clock,
    private readonly reads: Reads,
    private readonly completion: Pick<BatchCompletion, 'publish'>,
  ) {}

  /**
   * Repeated calls are safe. @throws BatchNotFoundError
   * @throws AlreadySentError where no message can be cancelled any more
   */
  async cancel(id: string, scope: BatchScope, also?: AlsoOption['also']): Promise<BatchView> {
    const cancelled = await this.database.transaction(async (tx) => {
      const state = stateOf(await this.reads.batchRow(tx, id, scope, true));
      if (state === 'cancelled') return undefined;
      if (state === 'completed' || state === 'draining') throw new AlreadySentError(id);
      const at = this.clock.now() * 1_000;
      await tx.run(
        `UPDATE messaging_batch SET ${CANCELLED}, revision = revision + 1, completed_at = ?, poll_at = ? WHERE id = ?`,
        [at, at, id],
      );
      const queued = await tx.all<HeldMessage>(
        `SELECT ${HELD_COLUMNS} FROM messaging_message m JOIN messaging_batch b ON b.id = m.batch
         WHERE m.batch = ? AND ${isQueued('m')} ORDER BY m.position ${this.database.dialect.forUpdate('m')}`,
        [id],
      );
      const raised = queued.flatMap(
        (message) => raise(message, STATUS_RANK.cancelled, at, null) ?? [],
      );
      await this.writer.write(tx, raised);
      await also?.(tx.manager);
      return raised;
    });
    if (cancelled) {
      this.writer.publish(cancelled);
      this.completion.publish([{ id, ...scope }]);
    }
    return this.reads.batch(id, scope);
  }

  /** @throws BatchNotFoundError, AlreadySentError where a message of the batch has started */
  async reschedule(
    id: string,
    scope: BatchScope,
    sendAt: Date,
    also?: AlsoOption['also'],
  ): Promise<BatchView & { lane: string }> {
    const { dialect } = this.database;
    const at = sendAt.getTime() * 1_000;
    const available = dialect.greatest(dialect.now, dialect.bigint);
    const lane = await this.database.transaction(async (tx) => {
      const row = await this.reads.batchRow(tx, id, scope, true);
      if (stateOf(row) !== 'accepted') throw new AlreadySentError(id);
      // MySQL evaluates assignments in order: the first one reads the old `available_at`.
      await tx.run(
        `UPDATE messaging_batch SET valid_until = valid_until - available_at + ${available}, send_at = ?,
           available_at = ${available}, revision = revision + 1 WHERE id = ?`,
        [at, at, at, id],
      );
      await also?.(tx.manager);
      return row.lane;
    });
    return { ...(await this.reads.batch(id, scope)), lane };
  }
}
