import { setImmediate as turn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { AlreadySentError } from '../../message/errors.js';
import { STATUS_RANK } from '../../message/status.js';
import type { BatchView } from '../../message/views.js';
import type { AlsoOption } from '../database/sql.js';
import type { Clock } from '../../ports/clock.js';
import { CANCELLED, stateOf } from '../rows/batch-state.js';
import type { BatchScope } from '../rows/cursor.js';
import type { Reads } from '../reads/reads.js';
import {
  HELD_COLUMNS,
  type HeldMessage,
  isQueued,
  raise,
  type StatusChange,
} from '../rows/status.js';
import { CHUNK_SIZE } from '../schema/tables.js';
import type { BatchCompletion } from '../upkeep/completion.js';
import type { StatusWriter } from './status-writer.js';
import type { StoreDatabase } from '../database/store-database.js';

/** Where the rows of a cancelled batch end: later messages were never started. */
interface NotStarted extends BatchScope {
  readonly id: string;
  readonly sender: string;
  readonly deliveryReport: number;
  readonly from: number;
  readonly recipients: number;
  /** Epoch microseconds. */
  readonly at: number;
}

/** Events of cancelled messages that are published in one turn of the event loop. */
const EVENTS = 500;

export class BatchChanges {
  readonly #logger = new Logger('MessagingEvents');
  /** Batches whose events are being published. */
  readonly #announcing = new Set<Promise<void>>();

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly clock: Clock,
    private readonly reads: Reads,
    private readonly completion: Pick<BatchCompletion, 'publish'>,
  ) {}

  /** Resolves when the events of every cancelled batch are published. */
  async idle(): Promise<void> {
    await Promise.all(this.#announcing);
  }

  /**
   * Each cancelled message has an event, also one without a row. Repeated calls are safe.
   * @throws BatchNotFoundError
   * @throws AlreadySentError where no message can be cancelled any more
   */
  async cancel(id: string, scope: BatchScope, also?: AlsoOption['also']): Promise<BatchView> {
    const cancelled = await this.database.transaction(async (tx) => {
      const batch = await this.reads.batchRow(tx, id, scope, true);
      const state = stateOf(batch);
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
      const [rows] = await tx.all<{ last: number | null }>(
        'SELECT max(m.position) AS last FROM messaging_message m WHERE m.batch = ?',
        [id],
      );
      const { sender, deliveryReport, recipients } = batch;
      const from = (rows?.last ?? -1) + 1;
      return { raised, rest: { id, ...scope, sender, deliveryReport, recipients, from, at } };
    });
    if (cancelled) {
      const { raised, rest } = cancelled;
      this.writer.publish(raised);
      const announced = this.#announce(rest).then(() => {
        this.completion.publish([{ id, ...scope }]);
        this.#announcing.delete(announced);
      });
      this.#announcing.add(announced);
    }
    return this.reads.batch(id, scope);
  }

  /** Publishes the events of messages without rows, in slices between which other work has turns. */
  async #announce(batch: NotStarted): Promise<void> {
    if (!this.writer.isHeard) return;
    try {
      for (let n = Math.floor(batch.from / CHUNK_SIZE); n * CHUNK_SIZE < batch.recipients; n++) {
        const [chunk] = await this.database.all<{ recipients: string }>(
          'SELECT c.recipients FROM messaging_batch_chunk c WHERE c.batch = ? AND c.n = ?',
          [batch.id, n],
        );
        if (!chunk) return;
        const changes = chunk.recipients
          .split('\n')
          .map((recipient, index) => cancellation(batch, n * CHUNK_SIZE + index, recipient))
          .filter(({ message }) => message.position >= batch.from);
        for (let from = 0; from < changes.length; from += EVENTS) {
          this.writer.publish(changes.slice(from, from + EVENTS));
          await this.writer.idle();
          await turn();
        }
      }
    } catch (error) {
      const { name } = error as Error;
      this.#logger.warn(`${batch.id}: not every event of its cancel was published: ${name}`);
    }
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

/** The change of a message that was never started. */
function cancellation(
  { id, tenant, channel, sender, deliveryReport, at }: NotStarted,
  position: number,
  recipient: string,
): StatusChange {
  const message: HeldMessage = {
    batch: id,
    position,
    recipient,
    tenant,
    channel,
    sender,
    delivery_report: deliveryReport,
    status: STATUS_RANK.queued,
    sequence: 0,
    error_code: null,
    reference: null,
  };
  return raise(message, STATUS_RANK.cancelled, at, null) as StatusChange;
}
