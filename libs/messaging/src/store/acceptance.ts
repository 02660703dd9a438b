import { IdempotencyKeyInUseError, IdempotencyKeyReusedError } from '../message/errors.js';
import { type AcceptanceStatements, acceptanceStatements } from './acceptance.statements.js';
import { type AcceptedBatch, accepted } from './accepted-batch.js';
import { isDataError, isLockTimeout } from './database-errors.js';
import { DeniedRecipients } from './denied-recipients.js';
import { type Flush, GroupCommit } from './group-commit.js';
import { IdempotencyKeys, keyOf } from './idempotency-keys.js';
import type { StoreDatabase, Sql, Transaction } from './store-database.js';
import type { NewBatch } from './new-batch.js';
import { retryWhileUnavailable } from './unavailable-retry.js';
import { SqliteBatches } from './sqlite/batches.js';
import type { StatusChange } from './status.js';
import type { StatusWriter } from './status-writer.js';

/** Milliseconds a key's holder is waited for; once its group has waited, each part of the group waits less. */
const KEY_PATIENCE = 1_000;
const KEY_PATIENCE_AGAIN = 100;

/**
 * The store's entrance. A batch of any size is two inserts, and concurrent sends share them:
 * each resolves after its own commit.
 */
export class Acceptance {
  readonly #group: GroupCommit<NewBatch, AcceptedBatch | IdempotencyKeyReusedError>;
  /** Apart, because a key may be held by somebody's open transaction, and nobody else shall wait for that. */
  readonly #keyed: GroupCommit<NewBatch, AcceptedBatch | IdempotencyKeyReusedError>;
  readonly #statements: AcceptanceStatements;
  readonly #sqlite: SqliteBatches | undefined;
  readonly #keys: IdempotencyKeys;
  readonly #denied: DeniedRecipients;
  /** Those in whose group somebody waited for a key in vain. */
  readonly #waited = new WeakSet<NewBatch>();
  /** Those that an attempt may have stored. */
  readonly #tried = new WeakSet<NewBatch>();

  constructor(
    private readonly database: StoreDatabase,
    writer: StatusWriter,
    idempotencyWindow: number,
  ) {
    this.#statements = acceptanceStatements(database.dialect);
    if (database.dialect.kind === 'sqlite') this.#sqlite = new SqliteBatches(database.dialect);
    this.#keys = new IdempotencyKeys(this.#statements, idempotencyWindow);
    this.#denied = new DeniedRecipients(database.dialect, writer);
    const group = (flush: Flush<NewBatch, AcceptedBatch | IdempotencyKeyReusedError>) =>
      new GroupCommit<NewBatch, AcceptedBatch | IdempotencyKeyReusedError>(
        // A commit may be lost on its way back; it is made again, and leaves alone what is there.
        (take) => retryWhileUnavailable(() => flush(take)),
        {
          maxItems: 2_000,
          weight: ({ recipients }) => 1 + recipients.length / 100,
          isItemError: (error) => isDataError(error) || isLockTimeout(error),
        },
      );
    this.#group = group((take) => this.#flush(take));
    this.#keyed = group((take) => this.#flushKeyed(take));
  }

  /**
   * Stores the batch in a commit shared with other concurrent sends.
   * @throws IdempotencyKeyInUseError where somebody's open transaction holds its key
   */
  accept(batch: NewBatch): Promise<AcceptedBatch> {
    this.database.refuseWithin();
    const group = batch.idempotencyKey === null ? this.#group : this.#keyed;
    return group.add(batch).then(this.#told, refused);
  }

  readonly #told = (result: AcceptedBatch | IdempotencyKeyReusedError): AcceptedBatch => {
    const accepted = answer(result);
    this.tell(accepted);
    return accepted;
  };

  /** Stores the batch in the caller's transaction; {@link tell} after its commit. */
  async acceptWithin(tx: Transaction, batch: NewBatch): Promise<AcceptedBatch> {
    return answer((await this.#store(tx, [batch]))[0]);
  }

  /** Tells of the statuses a batch began with. */
  tell({ changes }: AcceptedBatch): void {
    this.#denied.publish(changes);
  }

  /**
   * The batch that has this one's idempotency key already.
   * @throws IdempotencyKeyReusedError where that is another message
   */
  replayOf(batch: NewBatch, sql: Pick<Sql, 'all'>): Promise<AcceptedBatch | undefined> {
    return this.#keys.replayOf(batch, sql);
  }

  async idle(): Promise<void> {
    await Promise.all([this.#group.idle(), this.#keyed.idle()]);
  }

  async #flush(
    take: () => readonly NewBatch[],
  ): Promise<readonly (AcceptedBatch | IdempotencyKeyReusedError)[]> {
    const { atOnce } = this.#statements;
    if (!atOnce || take().some(({ denied }) => denied.length > 0))
      return this.database.transaction((tx) => this.#store(tx, take()));
    const batches = take();
    const again = batches.some((batch) => this.#tried.has(batch));
    try {
      await this.database.standalone.all(...atOnce(batches, again));
    } catch (error) {
      for (const batch of batches) this.#tried.add(batch);
      throw error;
    }
    return batches.map((batch) => accepted(batch, batch, []));
  }

  /** A key that somebody's open transaction holds must not hold up the others for longer than a moment. */
  async #flushKeyed(
    take: () => readonly NewBatch[],
  ): Promise<readonly (AcceptedBatch | IdempotencyKeyReusedError)[]> {
    const batches = take();
    const again = batches.every((batch) => this.#waited.has(batch));
    try {
      return await this.database.transactionWithLockTimeout(
        again ? KEY_PATIENCE_AGAIN : KEY_PATIENCE,
        (tx) => this.#store(tx, batches),
      );
    } catch (error) {
      if (isLockTimeout(error)) for (const batch of batches) this.#waited.add(batch);
      throw error;
    }
  }

  async #store(
    tx: Transaction,
    batches: readonly NewBatch[],
  ): Promise<(AcceptedBatch | IdempotencyKeyReusedError)[]> {
    const keyed = batches.filter(({ idempotencyKey }) => idempotencyKey !== null);
    let changes: ReadonlyMap<string, readonly StatusChange[]> | undefined;
    let owners = await this.#keys.before(tx, keyed);
    const fresh = batches.filter((batch) => {
      const key = keyOf(batch);
      if (key === null) return true;
      if (owners.has(key)) return false;
      owners.set(key, batch);
      return true;
    });
    if (fresh.length > 0) {
      await this.#insertBatches(tx, fresh);
      // Another process may have stored a key first: its row is the one that counts.
      if (keyed.length > 0) owners = await this.#keys.owners(tx, keyed);
      const stored = fresh.filter(
        (batch) => batch.idempotencyKey === null || owners.get(keyOf(batch)!)?.id === batch.id,
      );
      await this.#insertChunks(tx, stored);
      changes = await this.#denied.reject(tx, stored);
    }
    return batches.map((batch) => {
      const owner = batch.idempotencyKey === null ? batch : owners.get(keyOf(batch)!)!;
      return owner.fingerprint === batch.fingerprint
        ? accepted(batch, owner, changes?.get(owner.id) ?? [])
        : new IdempotencyKeyReusedError();
    });
  }

  async #insertBatches(tx: Sql, batches: readonly NewBatch[]): Promise<void> {
    if (this.#sqlite) await this.#sqlite.insert(tx, batches);
    else await tx.run(this.#statements.insertBatches, this.#statements.batchRows(batches));
  }

  async #insertChunks(tx: Sql, batches: readonly NewBatch[]): Promise<void> {
    if (batches.length === 0 || (await this.#sqlite?.insertFirstChunks(tx, batches))) return;
    await tx.run(this.#statements.insertChunks, this.#statements.chunkRows(batches));
  }
}

function refused(error: unknown): never {
  throw isLockTimeout(error) ? new IdempotencyKeyInUseError({ cause: error }) : error;
}

function answer(result: AcceptedBatch | IdempotencyKeyReusedError | undefined): AcceptedBatch {
  if (result instanceof Error) throw result;
  if (!result) throw new Error('The store answered for fewer batches than it was given');
  return result;
}
