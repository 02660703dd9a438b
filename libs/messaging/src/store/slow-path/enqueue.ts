import { IdempotencyKeyReusedError } from '../../message/errors.js';
import { STATUS_RANK } from '../../message/status.js';
import { BATCH_STATE } from '../rows/batch-state.js';
import type { Dialect } from '../database/dialect.js';
import {
  type EnqueuedBatch,
  NEW_BATCH_NAMES,
  NEW_BATCH_SOURCE,
  type NewBatch,
  newBatchRow,
} from '../rows/new-batch.js';
import { digestId } from '../rows/digest-id.js';
import type { Sql, Transaction } from '../database/sql.js';
import { type HeldMessage, raise, type StatusChange } from '../rows/status.js';
import type { StatusWriter } from '../verbs/status-writer.js';
import { CHUNK_SIZE } from '../schema/tables.js';

/** The batch of an idempotency key: the new one, or the earlier one with that key. */
interface KeyOwner extends Pick<NewBatch, 'id' | 'fingerprint' | 'createdAt'> {
  readonly recipients: { readonly length: number };
}

interface KeyRow {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
  readonly idempotency_key: string;
  readonly fingerprint: string;
  readonly created_at: string | number;
  readonly recipient_count: number;
}

/**
 * Stores new batches of every kind, on every database: looks up their idempotency keys, inserts
 * batches and chunks, looks up the keys again, and rejects the recipients that policy denied.
 */
export class EnqueueSlowPath {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(
    private readonly dialect: Dialect,
    private readonly writer: StatusWriter,
    /** Retention of idempotency keys in milliseconds. */
    private readonly keyWindow: number,
  ) {
    this.#sql = statementsFor(dialect);
  }

  async store(
    tx: Transaction,
    batches: readonly NewBatch[],
  ): Promise<(EnqueuedBatch | IdempotencyKeyReusedError)[]> {
    const keyed = batches.filter(({ idempotencyKey }) => idempotencyKey !== null);
    let owners = await this.#ownersBefore(tx, keyed);
    const fresh = batches.filter((batch) => {
      const key = keyOf(batch);
      if (key === null) return true;
      if (owners.has(key)) return false;
      owners.set(key, batch);
      return true;
    });
    let changes: ReadonlyMap<string, readonly StatusChange[]> | undefined;
    if (fresh.length > 0) {
      await this.#insertBatches(tx, fresh);
      // Another process may have stored a key first: its batch owns the key.
      if (keyed.length > 0) owners = await this.#owners(tx, keyed);
      const stored = fresh.filter(
        (batch) => batch.idempotencyKey === null || owners.get(keyOf(batch)!)?.id === batch.id,
      );
      if (stored.length > 0)
        await tx.run(this.#sql.insertChunks, this.#sql.chunks.bind(stored.flatMap(chunkRowsOf)));
      changes = await this.#rejectDenied(tx, stored);
    }
    return batches.map((batch) => {
      const owner = batch.idempotencyKey === null ? batch : owners.get(keyOf(batch)!)!;
      return owner.fingerprint === batch.fingerprint
        ? enqueued(batch, owner, changes?.get(owner.id) ?? [])
        : new IdempotencyKeyReusedError();
    });
  }

  /**
   * The earlier batch with this key.
   * @throws IdempotencyKeyReusedError where the key was used for another message
   */
  async replayOf(batch: NewBatch, sql: Pick<Sql, 'all'>): Promise<EnqueuedBatch | undefined> {
    if (batch.idempotencyKey === null) return undefined;
    const [row] = await sql.all<KeyRow>(this.#sql.findKeys, this.#boundKeys([batch]));
    const owner = row && ownerOf(row);
    if (!owner || owner.createdAt + this.keyWindow < batch.createdAt) return undefined;
    if (owner.fingerprint !== batch.fingerprint) throw new IdempotencyKeyReusedError();
    return enqueued(batch, owner, []);
  }

  async #insertBatches(tx: Sql, batches: readonly NewBatch[]): Promise<void> {
    const { laneClock } = this.dialect;
    if (laneClock) {
      const lanes = [...new Set(batches.map(({ lane }) => lane))];
      await tx.run(laneClock.advance, laneClock.bind(lanes));
    }
    await tx.run(this.#sql.insertBatches, this.#sql.batches.bind(batches.map(newBatchRow)));
  }

  /**
   * The owners of the keys before the batches are stored. Keys without an owner are not locked:
   * under REPEATABLE READ MySQL would lock the gap around them, and with it other keys.
   */
  async #ownersBefore(tx: Sql, keyed: readonly NewBatch[]): Promise<Map<string, KeyOwner>> {
    if (keyed.length === 0) return new Map();
    const known = await tx.all<KeyRow>(this.#sql.findKeys, this.#boundKeys(keyed));
    return known.length === 0 ? new Map() : this.#owners(tx, keyed);
  }

  /** The owners of the keys, by {@link keyOf}, locked; expired keys are released. */
  async #owners(tx: Sql, keyed: readonly NewBatch[]): Promise<Map<string, KeyOwner>> {
    const owners = new Map<string, KeyOwner>();
    const [first] = keyed;
    if (!first) return owners;
    const rows = await tx.all<KeyRow>(this.#sql.lockKeys, this.#boundKeys(keyed));
    const expired: string[][] = [];
    for (const row of rows) {
      const owner = ownerOf(row);
      if (owner.createdAt + this.keyWindow < first.createdAt) expired.push([row.id]);
      else owners.set(JSON.stringify([row.tenant, row.channel, row.idempotency_key]), owner);
    }
    if (expired.length > 0) await tx.run(this.#sql.releaseKeys, this.#sql.ids.bind(expired));
    return owners;
  }

  /** Sets the batch's first recipients, which policy denied, to `rejected`. */
  async #rejectDenied(
    tx: Transaction,
    batches: readonly NewBatch[],
  ): Promise<ReadonlyMap<string, readonly StatusChange[]>> {
    const changes = new Map<string, StatusChange[]>();
    for (const batch of batches)
      if (batch.denied.length > 0) changes.set(batch.id, rejections(batch));
    if (changes.size === 0) return changes;
    const all = [...changes.values()].flat();
    const rows = all.map(({ message: m }) => [m.batch, m.position, m.recipient]);
    // On a retry after a lost commit response, the listeners were already called.
    if ((await tx.run(this.#sql.insertDenied, this.#sql.denied.bind(rows))) === 0) return changes;
    await this.writer.write(tx, all);
    await this.writer.log(tx, all.map(logRow));
    return changes;
  }

  #boundKeys(keyed: readonly NewBatch[]): unknown[] {
    return this.#sql.keys.bind(
      keyed.map(({ tenant, channel, idempotencyKey }) => [tenant, channel, idempotencyKey]),
    );
  }
}

/** The result for `batch`: the batch itself, or the `owner` of its key. */
export function enqueued(
  batch: NewBatch,
  owner: KeyOwner,
  changes: readonly StatusChange[],
): EnqueuedBatch {
  const replayed = owner.id !== batch.id;
  return {
    id: owner.id,
    createdAt: owner.createdAt,
    recipients: owner.recipients.length,
    replayed,
    changes: replayed ? [] : changes,
  };
}

/** `null`: the batch has no key. */
function keyOf({ tenant, channel, idempotencyKey }: NewBatch): string | null {
  return idempotencyKey === null ? null : JSON.stringify([tenant, channel, idempotencyKey]);
}

function ownerOf(row: KeyRow): KeyOwner {
  return {
    id: row.id,
    fingerprint: row.fingerprint,
    createdAt: Math.floor(Number(row.created_at) / 1_000),
    recipients: { length: row.recipient_count },
  };
}

function statementsFor(dialect: Dialect) {
  const batches = dialect.rows(NEW_BATCH_SOURCE);
  const chunks = dialect.rows({ v_batch: 'uuid', v_n: 'int', v_recipients: 'text' });
  const keys = dialect.rows({ v_tenant: 'key', v_channel: 'key', v_key: 'key' });
  const ids = dialect.rows({ v_id: 'uuid' });
  const denied = dialect.rows({ v_batch: 'uuid', v_position: 'int', v_recipient: 'key' });
  const availableAt = dialect.greatest(
    dialect.laneClock?.at ?? dialect.now,
    'coalesce(v_send_at, 0)',
  );
  const findKeys = `SELECT b.id, b.tenant, b.channel, b.idempotency_key, b.fingerprint, b.created_at, b.recipient_count
    FROM ${keys.keyed} ${dialect.join} messaging_batch b ${dialect.forceIndex('messaging_batch_idempotency')}
      ON b.tenant = v_tenant AND b.channel = v_channel AND b.idempotency_key = v_key`;
  return {
    batches,
    chunks,
    keys,
    ids,
    denied,
    // After a lost commit response the rows are already stored.
    insertBatches: `INSERT INTO messaging_batch (${NEW_BATCH_NAMES.join(', ')}, available_at, valid_until, state)
      SELECT ${NEW_BATCH_NAMES.map((name) => `v_${name}`).join(', ')}, ${availableAt},
        ${availableAt} + v_valid_for, ${BATCH_STATE.accepted}
      FROM ${batches.sql} WHERE 1 = 1 ${dialect.ignoreConflict('messaging_batch', 'id')}`,
    insertChunks: `INSERT INTO messaging_batch_chunk (batch, n, recipients)
      SELECT v_batch, v_n, v_recipients FROM ${chunks.sql}
      WHERE 1 = 1 ${dialect.ignoreConflict('messaging_batch_chunk', 'n')}`,
    insertDenied: `INSERT INTO messaging_message (batch, position, status, attempt, recipient)
      SELECT v_batch, v_position, ${STATUS_RANK.queued}, 0, v_recipient FROM ${denied.sql}
      WHERE 1 = 1 ${dialect.ignoreConflict('messaging_message', 'position')}`,
    findKeys,
    lockKeys: `${findKeys} ${dialect.forUpdate('b')}`,
    releaseKeys: dialect.updateFrom({
      table: 'messaging_batch',
      rows: ids,
      set: 'idempotency_key = NULL',
      where: 'messaging_batch.id = v_id',
    }),
  };
}

function chunkRowsOf({ id, recipients }: NewBatch): unknown[][] {
  const rows: unknown[][] = [];
  for (let n = 0; n * CHUNK_SIZE < recipients.length; n++)
    rows.push([id, n, recipients.slice(n * CHUNK_SIZE, (n + 1) * CHUNK_SIZE).join('\n')]);
  return rows;
}

function rejections(batch: NewBatch): StatusChange[] {
  return batch.denied.map((code, position) => {
    const message: HeldMessage = {
      batch: batch.id,
      position,
      recipient: batch.recipients[position] as string,
      tenant: batch.tenant,
      channel: batch.channel,
      sender: batch.sender,
      delivery_report: batch.deliveryReport ? 1 : 0,
      status: STATUS_RANK.queued,
      sequence: 0,
      error_code: null,
      reference: null,
    };
    return raise(message, STATUS_RANK.rejected, batch.createdAt * 1_000, code) as StatusChange;
  });
}

/** Values in the order of the report log's columns. */
function logRow({ message, status, sequence, errorCode, at }: StatusChange): unknown[] {
  const { batch, position, tenant, recipient } = message;
  return [
    digestId('policy', batch, position, status),
    tenant,
    batch,
    position,
    'policy',
    null,
    null,
    recipient,
    status,
    'policy',
    errorCode,
    null,
    at,
    sequence,
  ];
}
