import { setImmediate as turn } from 'node:timers/promises';
import {
  AcceptRefusedError,
  IdempotencyKeyInUseError,
  IdempotencyKeyReusedError,
  SpendBusyError,
} from '../../message/errors.js';
import { STATUS_RANK } from '../../message/status.js';
import type { GuardedBatch, SpendGuards } from '../../ports/spend-guard.js';
import { ConcurrentChangeError, fastOrSlow } from '../database/concurrent-change.error.js';
import { isDataError, isLockTimeout } from '../database/database-errors.js';
import { type Dialect, inserter, into, updater } from '../database/dialect.js';
import { type Flush, GroupCommit } from '../database/group-commit.js';
import { retryWhileUnavailable } from '../database/retry.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import {
  bytesOf,
  hasData,
  INSERT_TEXT,
  labelRowsOf,
  personalChunksOf,
  piecesOf,
  REJECTIONS,
  takesTurns,
  textPiecesOf,
  TURN_BYTES,
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
  type OwnRows,
  rejection,
} from '../rows/new-batch.js';
import { changeEntry } from '../rows/received-report.js';
import { writeContent } from '../rows/stored-content.js';
import type { StatusChange } from '../rows/status.js';
import type { StatusWriter } from './status-writer.js';

type Result = EnqueuedBatch | IdempotencyKeyReusedError | AcceptRefusedError;

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

/** Longest wait, in ms, for a transaction that holds a key; `AGAIN`: for batches that timed out. */
const KEY_TIMEOUT = 1_000;
const KEY_TIMEOUT_AGAIN = 100;

/** Longest wait, in ms, for the rows of the spend guard, in a group whose waits for keys are short. */
const GUARD_TIMEOUT = 10_000;

/** Most weight of a group: two batches of 100,000 recipients do not share one. */
const MOST = 2_000;

/** Stores new batches. Concurrent sends share commits; each resolves after its own commit. */
export class NewBatches {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #plain: GroupCommit<NewBatch, Result>;
  /** A separate group: the fast path and its statements stay without the further rows. */
  readonly #extended: GroupCommit<NewBatch, Result>;
  /** A separate group: the spend guard takes their money in the statement that stores them. */
  readonly #reserved: GroupCommit<NewBatch, Result>;
  /** As the spend guard sees the batches of {@link #reserved}. */
  readonly #asked = new WeakMap<NewBatch, GuardedBatch>();
  /** A separate group: only batches with keys may wait for a key that an open transaction holds. */
  readonly #keyed: GroupCommit<NewBatch, Result>;
  /** Batches that take several turns, one at a time; see {@link takesTurns}. */
  readonly #long: GroupCommit<NewBatch, Result>;
  /** Batches whose group commit hit a lock timeout on an idempotency key. */
  readonly #timedOut = new WeakSet<NewBatch>();

  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    /** Retention of idempotency keys in milliseconds. */
    private readonly idempotencyWindow: number,
    private readonly spend: SpendGuards,
  ) {
    this.#sql = statementsFor(database.dialect);
    const group = (flush: Flush<NewBatch, Result>) =>
      new GroupCommit<NewBatch, Result>(
        // The response to a commit may be lost: the retry skips batches that are already stored.
        (take) => retryWhileUnavailable(() => flush(take)),
        {
          maxItems: MOST,
          weight: (batch) =>
            1 +
            batch.recipients.length / 50 +
            (batch.denied.length * MOST) / REJECTIONS +
            (bytesOf(batch) * MOST) / TURN_BYTES,
          isItemError: (error) =>
            isDataError(error) || isLockTimeout(error) || error instanceof SpendBusyError,
        },
      );
    this.#plain = group((take) => this.#flushPlain(take));
    this.#extended = group((take) => this.#flushExtended(take));
    this.#reserved = group((take) => this.#flushReserved(take));
    this.#keyed = group((take) => this.#flushKeyed(take));
    this.#long = group((take) => {
      const batches = take();
      const isKeyed = batches.some(({ idempotencyKey }) => idempotencyKey !== null);
      const timeout = isKeyed ? KEY_TIMEOUT : undefined;
      const guardTimeout = isKeyed ? GUARD_TIMEOUT : undefined;
      return this.database.longTransaction((tx) => this.#store(tx, batches, guardTimeout), timeout);
    });
  }

  /**
   * @throws IdempotencyKeyReusedError where the key was used for another message
   * @throws IdempotencyKeyInUseError where an open transaction holds the key
   */
  enqueue(given: NewBatch): Promise<EnqueuedBatch> {
    this.database.refuseWithin();
    const batch = this.#sealed(given);
    return this.#groupOf(batch)
      .add(batch)
      .then(
        (result) => {
          const stored = answer(result);
          this.publish(stored);
          return stored;
        },
        (error: unknown) => {
          throw isLockTimeout(error) ? new IdempotencyKeyInUseError({ cause: error }) : error;
        },
      );
  }

  /** Call {@link publish} with the result after the commit of `tx`. */
  async enqueueWithin(tx: Transaction, batch: NewBatch): Promise<EnqueuedBatch> {
    return answer((await this.#store(tx, [this.#sealed(batch)]))[0]!);
  }

  /**
   * As {@link enqueueWithin}, for batches without keys.
   * @param refused `stored`: a batch that a guard refuses is stored with its messages rejected
   * @returns the changes of rejected messages, to publish after the commit
   * @throws AcceptRefusedError of the first refused batch, without `refused`
   */
  async enqueueAllWithin(
    tx: Transaction,
    batches: readonly NewBatch[],
    refused?: 'stored',
  ): Promise<readonly StatusChange[]> {
    if (batches.length === 0) return [];
    const given = batches.map(this.#sealed);
    const results = await this.#store(tx, given);
    const rejected = new Map<Result, NewBatch>();
    if (refused)
      for (const [index, result] of results.entries())
        if (result instanceof AcceptRefusedError)
          rejected.set(result, rejectedBatch(given[index]!, result));
    const stored = results.filter((result) => !rejected.has(result));
    if (rejected.size > 0) stored.push(...(await this.#store(tx, [...rejected.values()])));
    return stored.flatMap((result) => answer(result).changes);
  }

  /**
   * Stores batches without keys and denied recipients, with further rows.
   * @throws ConcurrentChangeError where the guard changed too few rows; nothing is stored
   * @throws AcceptRefusedError of the first batch that a guard refuses; nothing is stored
   */
  async storeWith(given: readonly NewBatch[], own: OwnRows): Promise<void> {
    const { database } = this;
    const batches = given.map(this.#sealed);
    const { enqueue } = database.fastPaths;
    await fastOrSlow(
      // It writes no rows of labels.
      enqueue && !batches.some(isExtended)
        ? () => database.fastPath((sql) => enqueue(sql, batches, own))
        : undefined,
      () => {
        const work = async (tx: Transaction) => {
          if (own.guard) {
            const { statement, rows } = own.guard;
            const changed = await tx.run(statement.sql, statement.params);
            if (changed < rows) throw new ConcurrentChangeError();
          }
          for (const result of await this.#store(tx, batches)) answer(result);
          await tx.run(own.insert.sql, own.insert.params);
        };
        return batches.some(takesTurns)
          ? database.longTransaction(work)
          : database.transaction(work);
      },
    );
  }

  /** See {@link StatusWriter.guardTogether}. */
  guardTogether(tx: Transaction, tenants: readonly string[]): Promise<void> {
    return this.writer.guardTogether(tx, tenants);
  }

  publish({ changes }: Pick<EnqueuedBatch, 'changes'>): void {
    if (changes.length > 0) this.writer.publish(changes);
  }

  /** The batch with this key. @throws IdempotencyKeyReusedError where it is another message */
  async replayOf(batch: NewBatch, sql: Pick<Sql, 'all'>): Promise<EnqueuedBatch | undefined> {
    if (batch.idempotencyKey === null) return undefined;
    const [owner] = await this.#find(sql, this.#sql.findKeys, [batch]);
    return owner && !this.#isExpired(owner, batch) ? answer(replayed(batch, owner)) : undefined;
  }

  async idle(): Promise<void> {
    const groups = [this.#plain, this.#extended, this.#reserved, this.#keyed, this.#long];
    await Promise.all(groups.map((group) => group.idle()));
  }

  readonly #sealed = (batch: NewBatch): NewBatch => {
    const sealed = this.database.seals.seal(batch.id, batch);
    const { guard, abuse } = this.spend;
    const isGuarded = guard?.guards(batch.tenant);
    const isWatched = abuse?.guards(batch.tenant);
    return isGuarded || isWatched
      ? { ...sealed, ...(isGuarded && { guarded: true }), ...(isWatched && { watched: true }) }
      : sealed;
  };

  #flushPlain(take: () => readonly NewBatch[]): Promise<readonly Result[]> {
    const { database } = this;
    const { enqueue } = database.fastPaths;
    const fast = async (sql: Sql) => {
      const batches = take();
      await enqueue!(sql, batches);
      return batches.map((batch) => enqueued(batch));
    };
    return fastOrSlow<readonly Result[]>(enqueue && (() => database.fastPath(fast)), () =>
      database.transaction((tx) => this.#store(tx, take())),
    );
  }

  #groupOf(batch: NewBatch): GroupCommit<NewBatch, Result> {
    if (takesTurns(batch)) return this.#long;
    if (batch.idempotencyKey !== null) return this.#keyed;
    if (!isExtended(batch)) return this.#plain;
    return this.#isExpected(batch) ? this.#reserved : this.#extended;
  }

  /** Whether the spend guard accepts the batch from memory, and only it has more to write. */
  #isExpected(batch: NewBatch): boolean {
    const { guard } = this.spend;
    if (!batch.guarded || !guard?.reserve || !guard.expects) return false;
    if (batch.watched || batch.denied.length > 0 || hasData(batch)) return false;
    const asked = this.#guardedOf(batch);
    if (!guard.expects(asked)) return false;
    this.#asked.set(batch, asked);
    return true;
  }

  /** Batches that the guard refuses, or does not know, are accepted or refused by the slow path. */
  #flushReserved(take: () => readonly NewBatch[]): Promise<readonly Result[]> {
    const { database } = this;
    const { reserve } = database.fastPaths;
    const fast = async (sql: Sql) => {
      const batches = take();
      const taken = this.spend.guard?.reserve?.(
        batches.flatMap((batch) => this.#asked.get(batch) ?? []),
      );
      if (!taken) throw new ConcurrentChangeError();
      const { take: statement, rows, insert } = taken;
      await reserve!(sql, batches, { guard: { statement, rows }, insert });
      return batches.map((batch) => enqueued(batch));
    };
    return fastOrSlow<readonly Result[]>(reserve && (() => database.fastPath(fast)), () =>
      database.transaction((tx) => this.#store(tx, take())),
    );
  }

  #flushExtended(take: () => readonly NewBatch[]): Promise<readonly Result[]> {
    return this.database.transaction((tx) => this.#store(tx, take()));
  }

  /** A key that an open transaction holds delays its group by at most the timeout. */
  async #flushKeyed(take: () => readonly NewBatch[]): Promise<readonly Result[]> {
    const batches = take();
    const again = batches.every((batch) => this.#timedOut.has(batch));
    try {
      return await this.database.transaction(
        (tx) => this.#store(tx, batches, again ? KEY_TIMEOUT_AGAIN : GUARD_TIMEOUT),
        again ? KEY_TIMEOUT_AGAIN : KEY_TIMEOUT,
      );
    } catch (error) {
      const hasWaited = isLockTimeout(error) || error instanceof SpendBusyError;
      if (hasWaited) for (const batch of batches) this.#timedOut.add(batch);
      throw error;
    }
  }

  /**
   * Batches of every kind, on every database.
   * @param guardTimeout longest wait, in ms, for the rows of the spend guard. @default as the transaction's
   */
  async #store(
    tx: Transaction,
    batches: readonly NewBatch[],
    guardTimeout?: number,
  ): Promise<Result[]> {
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
    const refused = await this.#watch(tx, fresh);
    const allowed = fresh.filter(({ id }) => !refused.has(id));
    await this.#sql.insertChunks(tx, allowed.flatMap(chunksOf));
    for (const batch of allowed) if (hasData(batch)) await this.#storeData(tx, batch);
    // Others wait for the rows that it locks: a large batch is written before.
    const unpaid = await this.#guard(tx, allowed, guardTimeout);
    for (const [id, error] of unpaid) refused.set(id, error);
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

  /** Asks the library's own guard, which knows stored batches by their chunks. */
  async #watch(
    tx: Transaction,
    batches: readonly NewBatch[],
  ): Promise<Map<string, AcceptRefusedError>> {
    const { abuse } = this.spend;
    const watched = abuse ? batches.filter((batch) => batch.watched) : [];
    return new Map(watched.length > 0 ? await abuse?.onAccepted(tx, watched.map(acceptedOf)) : []);
  }

  /** Asks the app's spend guard. */
  async #guard(
    tx: Transaction,
    batches: readonly NewBatch[],
    timeout?: number,
  ): Promise<ReadonlyMap<string, AcceptRefusedError>> {
    const { guard } = this.spend;
    const guarded = guard ? batches.filter((batch) => batch.guarded) : [];
    if (!guard || guarded.length === 0) return new Map();
    const asked = guarded.map((batch) => this.#guardedOf(batch));
    const limit = timeout === undefined ? undefined : this.database.dialect.lockTimeout(timeout);
    if (limit !== undefined) await tx.run(limit);
    return this.database
      .runForeign(() => guard.onAccepted(asked, tx.manager))
      .catch((error: unknown) => {
        throw isLockTimeout(error) ? new SpendBusyError() : error;
      });
  }

  /** Takes back the rows of refused batches. */
  async #remove(tx: Transaction, batches: readonly string[]): Promise<void> {
    if (batches.length === 0) return;
    const { ids, remove } = this.#sql;
    for (const statement of remove) await tx.run(statement, ids.bind(batches));
  }

  #guardedOf({ createdAt, ...batch }: NewBatch): GuardedBatch {
    const { id, tenant, channel, sender, content, parts, spender = null } = batch;
    return {
      id,
      tenant,
      spender,
      channel,
      sender,
      content,
      category: this.database.channels.priceCategoryOf(channel, content),
      parts: parts || 1,
      recipients: acceptedOf(batch).recipients,
      createdAt: new Date(createdAt),
    };
  }

  /** Row by row: together they could exceed the largest statement of MySQL. */
  async #storeData(tx: Transaction, batch: NewBatch): Promise<void> {
    const { insertLabel, insertPersonal, insertPiece, insertText } = this.#sql;
    const next = takesTurns(batch) ? () => turn() : () => undefined;
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

/** Whether the batch needs more than its own row and those of its recipients. */
function isExtended(batch: NewBatch): boolean {
  return batch.guarded === true || batch.watched === true || hasData(batch);
}

/** The batch without the recipients that policy denied. */
function acceptedOf<B extends Pick<NewBatch, 'denied' | 'recipients'>>(batch: B): B {
  const { denied, recipients } = batch;
  return denied.length > 0 ? { ...batch, recipients: recipients.slice(denied.length) } : batch;
}

/** The batch as if policy had denied every recipient. */
function rejectedBatch(batch: NewBatch, { code }: AcceptRefusedError): NewBatch {
  return { ...batch, guarded: false, watched: false, denied: batch.recipients.map(() => code) };
}

/** Whether one batch of a group is the cause of an error that concerns no other. */
export function isOwnError(error: unknown): boolean {
  return isDataError(error) || error instanceof AcceptRefusedError;
}

function answer(result: Result): EnqueuedBatch {
  if (result instanceof Error) throw result;
  return result;
}

function enqueued(
  { id, createdAt, recipients }: NewBatch,
  changes: readonly StatusChange[] = [],
): EnqueuedBatch {
  return { id, createdAt, recipients: recipients.length, replayed: false, changes };
}

function replayed(
  { fingerprint }: NewBatch,
  { id, createdAt, recipientCount, ...owner }: KeyOwner,
): Result {
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
