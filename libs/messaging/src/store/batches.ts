import { AlreadySentError, BatchNotFoundError } from '../message/errors.js';
import type { Channel } from '../message/message.js';
import { STATUS_RANK } from '../message/status.js';
import type { BatchView, MessageView, Page } from '../message/views.js';
import type { Clock } from '../ports/clock.js';
import { decodeCursor, encodeCursor } from './cursor.js';
import { type BatchRow, viewsOf } from './batch-views.js';
import type { StoreDatabase, Sql } from './store-database.js';
import { BATCH_PHASE } from './schema.js';
import { type HeldMessage, raise, type StatusChange } from './status-change.js';
import { HELD_COLUMNS, type StatusWriter } from './status-writer.js';

/** Whose batch, and of which channel. */
export interface BatchScope {
  readonly tenant: string;
  readonly channel: Channel;
}

export interface PageRequest {
  readonly cursor?: string;
  readonly limit: number;
}

/** Batches read back, cancelled and rescheduled. */
export class Batches {
  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly clock: Clock,
  ) {}

  /** @throws BatchNotFoundError */
  async find(id: string, scope: BatchScope): Promise<BatchView> {
    return (
      await viewsOf(this.database, [await this.#row(this.database, id, scope)])
    )[0] as BatchView;
  }

  /** Newest first. */
  async list(scope: BatchScope, { cursor, limit }: PageRequest): Promise<Page<BatchView>> {
    const after = cursor === undefined ? '' : 'AND b.id < ?';
    const rows = await this.database.all<BatchRow>(
      `${this.#select} WHERE b.tenant = ? AND b.channel = ? ${after} ORDER BY b.id DESC LIMIT ?`,
      [
        scope.tenant,
        scope.channel,
        ...(cursor === undefined ? [] : [decodeCursor(cursor, 'uuid')]),
        limit + 1,
      ],
    );
    const page = rows.slice(0, limit);
    return {
      data: await viewsOf(this.database, page),
      nextCursor: rows.length > limit ? encodeCursor((page.at(-1) as BatchRow).id) : null,
    };
  }

  /** @throws BatchNotFoundError */
  async recipients(id: string, scope: BatchScope): Promise<string[]> {
    await this.#row(this.database, id, scope);
    const rows = await this.database.all<{ recipients: string }>(
      'SELECT recipients FROM messaging_batch_chunk WHERE batch = ? ORDER BY n',
      [id],
    );
    return rows.flatMap(({ recipients }) => recipients.split('\n'));
  }

  /** In the order of the batch; only those that have begun. @throws BatchNotFoundError */
  async messages(
    id: string,
    scope: BatchScope,
    { cursor, limit }: PageRequest,
  ): Promise<Page<MessageView>> {
    await this.#row(this.database, id, scope);
    const rows = await this.database.all<{
      position: number;
      recipient: string;
      status: number;
      attempt: number;
      error_code: string | null;
    }>(
      `SELECT position, recipient, status, attempt, error_code FROM messaging_message
       WHERE batch = ? AND position > ? ORDER BY position LIMIT ?`,
      [id, cursor === undefined ? -1 : Number(decodeCursor(cursor, 'position')), limit + 1],
    );
    const page = rows.slice(0, limit);
    return {
      data: page.map((row) => ({
        id: `${id}-${row.position}`,
        batchId: id,
        position: row.position,
        recipient: row.recipient,
        status: this.database.channels.statusOf(row.status),
        errorCode: row.error_code,
        attempts: row.attempt,
      })),
      nextCursor:
        rows.length > limit
          ? encodeCursor(String((page.at(-1) as { position: number }).position))
          : null,
    };
  }

  /**
   * Stops what has not started; repeatable.
   * @throws BatchNotFoundError
   * @throws AlreadySentError where nothing is left to stop
   */
  async cancel(id: string, scope: BatchScope): Promise<BatchView> {
    const changes = await this.database.transaction(async (tx) => {
      const { phase, pending } = await this.#row(tx, id, scope, true);
      if (phase === BATCH_PHASE.cancelled) return [];
      if (phase === BATCH_PHASE.completed || pending === 0) throw new AlreadySentError(id);
      await tx.run(
        'UPDATE messaging_batch SET phase = ?, pending = 0, requeued = 0, revision = revision + 1, completed_at = ?, poll_at = ? WHERE id = ?',
        [BATCH_PHASE.cancelled, this.clock.now() * 1_000, this.clock.now() * 1_000, id],
      );
      const queued = await tx.all<HeldMessage>(
        `SELECT ${HELD_COLUMNS} FROM messaging_message m JOIN messaging_batch b ON b.id = m.batch
         WHERE m.batch = ? AND m.status = ? ORDER BY m.position ${this.database.dialect.forUpdate('m')}`,
        [id, STATUS_RANK.queued],
      );
      const at = this.clock.now() * 1_000;
      const changes = queued
        .map((message) => raise(message, STATUS_RANK.cancelled, at, null))
        .filter((change): change is StatusChange => change !== undefined);
      await this.writer.write(tx, changes);
      return changes;
    });
    this.writer.publish(changes);
    return this.find(id, scope);
  }

  /**
   * Moves a batch of which nothing has started.
   * @throws BatchNotFoundError
   * @throws AlreadySentError
   */
  async reschedule(
    id: string,
    scope: BatchScope,
    sendAt: Date,
  ): Promise<BatchView & { lane: string }> {
    const { dialect } = this.database;
    const lane = await this.database.transaction(async (tx) => {
      const row = await this.#row(tx, id, scope, true);
      if (row.phase !== BATCH_PHASE.accepted) throw new AlreadySentError(id);
      const at = sendAt.getTime() * 1_000;
      const available = dialect.greatest(
        dialect.now,
        dialect.kind === 'postgres' ? 'CAST(? AS int8)' : '?',
      );
      await tx.run(
        `UPDATE messaging_batch SET valid_until = valid_until - available_at + ${available},
           send_at = ?, available_at = ${available}, revision = revision + 1 WHERE id = ?`,
        [at, at, at, id],
      );
      return row.lane;
    });
    return { ...(await this.find(id, scope)), lane };
  }

  get #select(): string {
    return `SELECT b.*, CASE WHEN b.available_at <= ${this.database.dialect.now} THEN 1 ELSE 0 END AS due
      FROM messaging_batch b`;
  }

  async #row(
    sql: Pick<Sql, 'all'>,
    id: string,
    scope: BatchScope,
    lock = false,
  ): Promise<BatchRow> {
    if (!isBatchId(id)) throw new BatchNotFoundError(String(id).slice(0, 36));
    const rows = await sql.all<BatchRow>(
      `${this.#select} WHERE b.id = ? AND b.tenant = ? AND b.channel = ? ${lock ? this.database.dialect.forUpdate('b') : ''}`,
      [id, scope.tenant, scope.channel],
    );
    if (!rows[0]) throw new BatchNotFoundError(id);
    return rows[0];
  }
}

/** As `send()` gives them. */
export function isBatchId(id: unknown): id is string {
  return typeof id === 'string' && UUID.test(id);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
