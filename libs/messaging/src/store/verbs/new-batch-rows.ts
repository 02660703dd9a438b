import { setImmediate as turn } from 'node:timers/promises';
import { type AcceptRefusedError, IdempotencyKeyReusedError } from '../../message/errors.js';
import { STATUS_RANK } from '../../message/status.js';
import { type Dialect, inserter, into, updater } from '../database/dialect.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import {
  hasData,
  INSERT_TEXT,
  labelRowsOf,
  personalChunksOf,
  piecesOf,
  REJECTIONS,
  textPiecesOf,
} from '../rows/batch-data.js';
import { digestId } from '../rows/digest-id.js';
import {
  batchValues,
  CHUNK,
  chunksOf,
  type EnqueuedBatch,
  INTO_BATCHES,
  NEW_BATCH,
  type NewBatch,
  rejection,
} from '../rows/new-batch.js';
import { changeEntry } from '../rows/received-report.js';
import type { StatusChange } from '../rows/status.js';
import { writeContent } from '../rows/stored-content.js';
import { type BatchGuards, pauseOf } from './batch-guards.js';
import type { StatusWriter } from './status-writer.js';

/** What became of a new batch. */
export type Enqueued = EnqueuedBatch | IdempotencyKeyReusedError | AcceptRefusedError;

interface KeyOwner {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
  readonly idempotencyKey: string | null;
  readonly fingerprint: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly recipientCount: number;
}

type Keyed = Pick<KeyOwner, 'tenant' | 'channel' | 'idempotencyKey'>;

/** Stores new batches of every kind, on every database, within a transaction. */
export class NewBatchRows {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    /** Retention of idempotency keys in milliseconds. */
    private readonly idempotencyWindow: number,
    private readonly guards: BatchGuards,
  ) {
    this.#sql = statementsFor(database.dialect);
  }

  /**
   * @param guardTimeout longest wait, in ms, for the rows of the guards. @default as the transaction's
   */
  async store(
    tx: Transaction,
    batches: readonly NewBatch[],
    guardTimeout?: number,
  ): Promise<Enqueued[]> {
    const keyed = batches.filter(({ idempotencyKey }) => idempotencyKey !== null);
    let owners = await this.#insert(tx, batches, keyed);
    const expired = owners.filter((owner) => this.#isExpired(owner, keyed[0]!));
    if (expired.length > 0) {
      await this.#sql.releaseKeys(tx, expired);
      owners = await this.#insert(tx, batches, keyed);
    }
    const byKey = new Map(owners.map((owner) => [keyOf(owner), owner]));
    const others = new Map<NewBatch, KeyOwner>();
    for (const batch of keyed) {
      const owner = byKey.get(keyOf(batch))!;
      if (owner.id !== batch.id) others.set(batch, owner);
    }
    const fresh = batches.filter((batch) => !others.has(batch));
    const watched = await this.guards.watch(tx, fresh);
    const refused = new Map(watched?.refused);
    const allowed = fresh.filter(({ id }) => !refused.has(id));
    await this.#sql.insertChunks(tx, allowed.flatMap(chunksOf));
    for (const batch of allowed) if (hasData(batch)) await this.#storeData(tx, batch);
    // Other sends of the tenant wait for the rows that guards lock: a large batch is stored before.
    if (watched || allowed.some(({ guarded }) => guarded))
      for (const [id, error] of await this.guards.count(tx, allowed, watched, guardTimeout))
        refused.set(id, error);
    await this.#remove(tx, [...refused.keys()]);
    const stored = fresh.filter(({ id }) => !refused.has(id));
    const changes = await this.#rejectDenied(tx, stored);
    return batches.map((batch) => {
      const owner = others.get(batch);
      // The owner may be an earlier one of these batches.
      if (owner) return refused.get(owner.id) ?? replayed(batch, owner);
      return refused.get(batch.id) ?? enqueued(batch, changes.get(batch.id));
    });
  }

  /** The batch with this key, and whether it is the same message. */
  async replayOf(batch: NewBatch, sql: Pick<Sql, 'all'>): Promise<Enqueued | undefined> {
    if (batch.idempotencyKey === null) return undefined;
    const [owner] = await this.#find(sql, this.#sql.findKeys, [batch]);
    return owner && !this.#isExpired(owner, batch) ? replayed(batch, owner) : undefined;
  }

  /** Takes back the rows of refused batches. */
  async #remove(tx: Transaction, batches: readonly string[]): Promise<void> {
    if (batches.length === 0) return;
    const { ids, remove } = this.#sql;
    for (const statement of remove) await tx.run(statement, ids.bind(batches));
  }

  /** Row by row: together they could exceed the largest statement of MySQL. */
  async #storeData(tx: Transaction, batch: NewBatch): Promise<void> {
    const { insertLabel, insertPersonal, insertPiece, insertText } = this.#sql;
    const next = pauseOf([batch]);
    for (const { n, piece, bytes } of textPiecesOf(writeContent(batch).texts)) {
      await tx.run(insertText, [batch.id, n, piece, bytes]);
      await next();
    }
    for (const { n, tag, labels } of labelRowsOf(batch))
      await tx.run(insertLabel, [batch.id, n, batch.tenant, tag, labels]);
    for (const { batch: id, n, entries } of personalChunksOf(batch))
      await tx.run(insertPersonal, [id, n, entries]);
    for (const { batch: id, digest, n, bytes } of piecesOf(batch)) {
      await tx.run(insertPiece, [id, digest, n, bytes]);
      await next();
    }
  }

  /** Batches whose key is taken are left out. @returns the owners of the keys, locked */
  async #insert(
    tx: Sql,
    batches: readonly NewBatch[],
    keyed: readonly NewBatch[],
  ): Promise<KeyOwner[]> {
    await this.#sql.insertBatches(tx, batches);
    return this.#find(tx, `${this.#sql.findKeys} ${this.database.dialect.forUpdate('b')}`, keyed);
  }

  #isExpired({ createdAt }: KeyOwner, batch: NewBatch): boolean {
    return createdAt + this.idempotencyWindow < batch.createdAt;
  }

  async #find(
    sql: Pick<Sql, 'all'>,
    statement: string,
    keyed: readonly NewBatch[],
  ): Promise<KeyOwner[]> {
    if (keyed.length === 0) return [];
    const rows = await sql.all<KeyOwner>(statement, this.#sql.keys.bind(keyed));
    return rows.map((row) => ({ ...row, createdAt: Math.floor(Number(row.createdAt) / 1_000) }));
  }

  /** Many in slices, between which other work has a turn. @returns the changes by batch */
  async #rejectDenied(
    tx: Transaction,
    batches: readonly NewBatch[],
  ): Promise<ReadonlyMap<string, readonly StatusChange[]>> {
    const changes = new Map<string, StatusChange[]>();
    if (batches.every((batch) => batch.denied.length === 0)) return changes;
    const denied = batches.flatMap((batch) =>
      [...batch.denied.keys()].map((at) => [batch, at] as const),
    );
    for (let from = 0; from < denied.length; from += REJECTIONS) {
      if (denied.length > REJECTIONS) await turn();
      const slice = denied
        .slice(from, from + REJECTIONS)
        .map(([batch, at]) => rejection(batch, at));
      for (const change of slice) {
        const { batch } = change.message;
        const own = changes.get(batch);
        if (own) own.push(change);
        else changes.set(batch, [change]);
      }
      // On a retry after a lost commit response, the listeners were already called.
      if ((await this.#sql.insertDenied(tx, slice)) === 0) continue;
      await this.writer.write(tx, slice);
      await this.writer.log(
        tx,
        slice.map((change) => {
          const { batch, position, status } = change.message;
          const hash = digestId('policy', batch, position, status);
          return changeEntry(change, { hash, provider: 'policy', rawStatus: 'policy' });
        }),
      );
    }
    return changes;
  }
}

/** The result for a batch that is stored. */
export function enqueued(
  { id, createdAt, recipients }: NewBatch,
  changes: readonly StatusChange[] = [],
): EnqueuedBatch {
  return { id, createdAt, recipients: recipients.length, replayed: false, changes };
}

function replayed(
  { fingerprint }: NewBatch,
  { id, createdAt, recipientCount, ...owner }: KeyOwner,
): Enqueued {
  return owner.fingerprint === fingerprint
    ? { id, createdAt, recipients: recipientCount, replayed: true, changes: [] }
    : new IdempotencyKeyReusedError();
}

function keyOf({ tenant, channel, idempotencyKey }: Keyed): string {
  return JSON.stringify([tenant, channel, idempotencyKey]);
}

function statementsFor(dialect: Dialect) {
  const keys = dialect.rows<Keyed>({
    v_tenant: ['key', ({ tenant }) => tenant],
    v_channel: ['key', ({ channel }) => channel],
    v_key: ['key', ({ idempotencyKey }) => idempotencyKey],
  });
  const ids = dialect.rows<string>({ v_id: ['uuid', (id) => id] });
  // After a lost commit response the rows are already stored.
  const ignored = (table: string, column: string) =>
    dialect.ignoreConflict(`messaging_${table}`, column);
  return {
    keys,
    insertBatches: inserter(dialect, INTO_BATCHES, NEW_BATCH, {
      values: batchValues(dialect),
      suffix: ignored('batch', 'id'),
    }),
    insertChunks: inserter(dialect, into('batch_chunk', CHUNK), CHUNK, {
      suffix: ignored('batch_chunk', 'n'),
    }),
    insertLabel: `INSERT INTO messaging_batch_label (batch, n, tenant, tag, labels) VALUES (?, ?, ?, ?, ?)
      ${ignored('batch_label', 'n')}`,
    insertPersonal: `INSERT INTO messaging_batch_personal (batch, n, entries) VALUES (?, ?, ?)
      ${ignored('batch_personal', 'n')}`,
    insertPiece: `INSERT INTO messaging_batch_attachment (batch, digest, n, bytes) VALUES (?, ?, ?, ?)
      ${ignored('batch_attachment', 'n')}`,
    insertText: `${INSERT_TEXT} ${ignored('batch_text', 'n')}`,
    insertDenied: inserter<StatusChange>(
      dialect,
      'INSERT INTO messaging_message (batch, position, recipient, status, attempt)',
      {
        v_batch: ['uuid', ({ message }) => message.batch],
        v_position: ['int', ({ message }) => message.position],
        v_recipient: ['key', ({ message }) => message.recipient],
      },
      {
        values: `v_batch, v_position, v_recipient, ${STATUS_RANK.queued}, 0`,
        suffix: ignored('message', 'position'),
      },
    ),
    findKeys: `SELECT b.id, b.tenant, b.channel, b.idempotency_key AS "idempotencyKey", b.fingerprint,
        b.created_at AS "createdAt", b.recipient_count AS "recipientCount"
      FROM ${keys.keyed} ${dialect.join} messaging_batch b ${dialect.forceIndex('messaging_batch_idempotency')}
        ON b.tenant = v_tenant AND b.channel = v_channel AND b.idempotency_key = v_key`,
    ids,
    remove: [
      ...['chunk', 'text', 'personal', 'attachment', 'label'].map((name) =>
        dialect.deleteFrom(`messaging_batch_${name}`, 'batch', ids),
      ),
      dialect.deleteFrom('messaging_batch', 'id', ids),
    ],
    releaseKeys: updater<KeyOwner>(
      dialect,
      { v_id: ['uuid', ({ id }) => id] },
      {
        table: 'messaging_batch',
        set: 'idempotency_key = NULL',
        where: 'messaging_batch.id = v_id',
      },
    ),
  };
}
