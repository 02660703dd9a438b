import { setImmediate as turn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { AlreadySentError } from '../../message/errors.js';
import { STATUS_RANK } from '../../message/status.js';
import type { BatchView, CancelledBatches } from '../../message/views.js';
import type { RowSource } from '../database/dialect.js';
import type { AlsoOption } from '../database/sql.js';
import type { Clock } from '../../ports/clock.js';
import { LARGE_BATCH } from '../rows/batch-counts.js';
import { BATCH_STATE, type BatchState, CANCELLED, stateOf } from '../rows/batch-state.js';
import type { BatchScope } from '../rows/cursor.js';
import { FIRST_ID } from '../reads/newest-batches.js';
import type { BatchRow } from '../reads/batch-views.js';
import type { Reads } from '../reads/reads.js';
import {
  LOCKED_COLUMNS,
  type LockedMessage,
  isQueued,
  raise,
  type StatusChange,
} from '../rows/status.js';
import { CHUNK_SIZE } from '../schema/tables.js';
import type { BatchCompletion } from '../upkeep/completion.js';
import type { NotStarted, StatusWriter } from './status-writer.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';

/** A cancelled batch: its changed messages, and those without rows. */
export interface Stopped {
  readonly raised: readonly StatusChange[];
  readonly rest: NotStarted;
}

type CancellableBatch = Pick<
  BatchRow,
  | 'id'
  | 'tenant'
  | 'channel'
  | 'sender'
  | 'deliveryReport'
  | 'labelled'
  | 'guarded'
  | 'recipients'
  | 'notification'
>;

/** Batches with a tag that are looked up, and cancelled in one transaction. */
const TAGGED = 1_000;
const TOGETHER = 50;

/** Events of cancelled messages that are published in one turn of the event loop. */
const EVENTS = 500;

export class BatchChanges {
  readonly #logger = new Logger('MessagingEvents');
  /** Batches whose events are being published. */
  readonly #announcing = new Set<Promise<void>>();

  readonly #ids: RowSource<string>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly clock: Clock,
    private readonly reads: Reads,
    private readonly completion: Pick<BatchCompletion, 'after' | 'publish'>,
    /** Asks the providers to cancel their accepted messages, after the commit. */
    private readonly request: (tx: Transaction, batches: readonly string[]) => Promise<void>,
  ) {
    this.#ids = database.dialect.rows<string>({ v_id: ['uuid', (id) => id] });
  }

  /** Resolves when the events of every cancelled batch are published. */
  async idle(): Promise<void> {
    await Promise.all(this.#announcing);
  }

  /**
   * Each cancelled message has an event, also one without a row. Repeated calls are safe. Providers
   * that can are asked to cancel the messages that they have accepted, also where it throws.
   * @throws BatchNotFoundError
   * @throws AlreadySentError where no message can be cancelled any more
   */
  async cancel(id: string, scope: BatchScope, also?: AlsoOption['also']): Promise<BatchView> {
    const cancelled = await this.database.transaction(async (tx) => {
      const batch = await this.reads.batchRow(tx, id, scope, true);
      const state = stateOf(batch);
      if (state === 'cancelled') return [];
      await this.request(tx, [id]);
      if (!isCancellable(state)) return undefined;
      const stopped = await this.#stop(tx, [batch]);
      await also?.(tx.manager);
      return stopped;
    });
    // After the commit, which keeps the request to the provider.
    if (!cancelled) throw new AlreadySentError(id);
    this.publish(cancelled);
    return this.reads.batch(id, scope);
  }

  /**
   * Cancels the unstarted messages of batches with a tag that were accepted before the call, some
   * batches in each transaction. Repeated calls are safe.
   */
  async cancelTagged(tag: string, scope: BatchScope): Promise<CancelledBatches> {
    const before = this.clock.id();
    let [after, batches, messages] = ['', 0, 0];
    for (;;) {
      const ids = await this.#tagged(tag, scope, after, before);
      for (let from = 0; from < ids.length; from += TOGETHER) {
        const slice = ids.slice(from, from + TOGETHER);
        const cancelled = await this.database.transaction(async (tx) => {
          const rows = await this.reads.batchRows(tx, slice, scope);
          const ids = rows.map((row) => row.id);
          await this.request(tx, ids);
          return this.#stop(
            tx,
            rows.filter((row) => isCancellable(stateOf(row))),
          );
        });
        this.publish(cancelled);
        batches += cancelled.length;
        for (const { raised, rest } of cancelled)
          messages += raised.length + rest.recipients - rest.from;
      }
      const last = ids.at(-1);
      if (last === undefined || ids.length < TAGGED) return { batches, messages };
      after = last;
    }
  }

  /**
   * Cancels batches of one message each that has not started; {@link publish} them after the commit.
   * It waits for no lock, because its caller has notifications locked, for which the holder of a
   * message may wait: a batch that another transaction has locked stays, as does one that a restored
   * database may have sent.
   */
  async cancelQueued(tx: Transaction, batches: readonly string[]): Promise<Stopped[]> {
    if (batches.length === 0) return [];
    const { dialect } = this.database;
    const { keyed } = this.#ids;
    const index = dialect.forceIndex('PRIMARY');
    const found = await tx.all<CancellableBatch>(
      `SELECT b.id, b.tenant, b.channel, b.sender, b.delivery_report AS "deliveryReport", b.labelled,
         b.guarded,
         b.recipient_count AS recipients, b.notification
       FROM ${keyed} ${dialect.join} messaging_batch b ${index} ON b.id = v_id
       WHERE ${dialect.residual(`b.state < ${BATCH_STATE.draining} AND b.in_doubt_at IS NULL`)}
       ORDER BY b.id ${dialect.skipLocked('b')}`,
      this.#ids.bind(batches),
    );
    if (found.length === 0) return [];
    const ids = this.#ids.bind(found.map(({ id }) => id));
    const from = `FROM ${keyed} ${dialect.join} messaging_message m ${index} ON m.batch = v_id`;
    const rows = await tx.all<{ batch: string }>(`SELECT m.batch ${from}`, ids);
    if (rows.length === 0) return this.#stop(tx, found);
    const queued = await tx.all<{ batch: string }>(
      `SELECT m.batch ${from} WHERE ${dialect.residual(isQueued('m'))}
       ORDER BY m.batch ${dialect.skipLocked('m')}`,
      ids,
    );
    const waiting = new Set(queued.map(({ batch }) => batch));
    const kept = new Set(rows.flatMap(({ batch }) => (waiting.has(batch) ? [] : [batch])));
    return this.#stop(
      tx,
      found.filter(({ id }) => !kept.has(id)),
    );
  }

  /** Ids of batches with the tag, of any channel and state, oldest first. */
  async #tagged(tag: string, { tenant }: BatchScope, after: string, before: string) {
    const { dialect } = this.database;
    const range = dialect.rows({
      v_tenant: 'key',
      v_tag: 'key',
      v_after: 'uuid',
      v_before: 'uuid',
    });
    const rows = await this.database.all<{ batch: string }>(
      `SELECT l.batch FROM ${range.keyed} ${dialect.join} messaging_batch_label l
         ${dialect.forceIndex('messaging_batch_label_list')}
         ON l.tenant = v_tenant AND l.tag = v_tag AND l.batch > v_after AND l.batch < v_before
       ORDER BY l.batch LIMIT ${TAGGED}`,
      range.bind([[tenant, tag, after || FIRST_ID, before]]),
    );
    return rows.map(({ batch }) => batch);
  }

  /** Sets locked batches to `cancelled`, and their messages that wait. */
  async #stop(tx: Transaction, batches: readonly CancellableBatch[]): Promise<Stopped[]> {
    if (batches.length === 0) return [];
    const at = this.clock.now() * 1_000;
    const ids = batches.map(({ id }) => id);
    const listed = ids.map(() => '?').join(', ');
    await tx.run(
      `UPDATE messaging_batch SET ${CANCELLED}, revision = revision + 1, completed_at = ?, poll_at = ?
       WHERE id IN (${listed})`,
      [at, at, ...ids],
    );
    const queued = await tx.all<LockedMessage>(
      `SELECT ${LOCKED_COLUMNS} FROM messaging_message m JOIN messaging_batch b ON b.id = m.batch
       WHERE m.batch IN (${listed}) AND ${isQueued('m')}
       ORDER BY m.batch, m.position ${this.database.dialect.forUpdate('m')}`,
      ids,
    );
    const raised = queued.flatMap(
      (message) => raise(message, STATUS_RANK.cancelled, at, null) ?? [],
    );
    await this.writer.writeUnguarded(tx, raised);
    await this.writer.wake(
      tx,
      batches.flatMap(({ notification }) => notification ?? []),
    );
    const ends = new Map(
      (
        await tx.all<{ batch: string; last: number }>(
          `SELECT m.batch, max(m.position) AS last FROM messaging_message m
           WHERE m.batch IN (${listed}) GROUP BY m.batch`,
          ids,
        )
      ).map(({ batch, last }) => [batch, Number(last)]),
    );
    const stopped = batches.map(({ notification: _notification, ...batch }) => ({
      raised: raised.filter(({ message }) => message.batch === batch.id),
      rest: {
        ...batch,
        from: (ends.get(batch.id) ?? -1) + 1,
        at,
      },
    }));
    await this.writer.guard(tx, raised);
    await this.writer.notifyCancelled(
      tx,
      stopped.flatMap(({ rest }) => (rest.from < rest.recipients ? [rest] : [])),
    );
    await this.completion.after(
      tx,
      batches.flatMap(({ id, recipients }) => (recipients > LARGE_BATCH ? [id] : [])),
      at,
    );
    return stopped;
  }

  /** After the commit of their cancel. */
  publish(cancelled: readonly Stopped[]): void {
    if (cancelled.length === 0) return;
    for (const { raised } of cancelled) this.writer.publish(raised);
    const announced = this.#announceAll(cancelled).then(() => {
      this.#announcing.delete(announced);
    });
    this.#announcing.add(announced);
  }

  async #announceAll(cancelled: readonly Stopped[]): Promise<void> {
    for (const { rest } of cancelled) {
      await this.#announce(rest);
      this.completion.publish([rest]);
    }
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

function isCancellable(state: BatchState): boolean {
  return state !== 'cancelled' && state !== 'completed' && state !== 'draining';
}

/** The change of a message that was never started. */
function cancellation(
  { id, tenant, channel, sender, deliveryReport, labelled, guarded, at }: NotStarted,
  position: number,
  recipient: string,
): StatusChange {
  const message: LockedMessage = {
    batch: id,
    position,
    recipient,
    tenant,
    channel,
    sender,
    delivery_report: deliveryReport,
    labelled,
    guarded,
    notification: null,
    recipient_count: 0,
    submission: null,
    status: STATUS_RANK.queued,
    sequence: 0,
    error_code: null,
    reference: null,
  };
  return raise(message, STATUS_RANK.cancelled, at, null) as StatusChange;
}
