import type { DataSource, EntityManager } from 'typeorm';
import { ChannelRegistry } from '../message/channel-registry.js';
import { TransactionRequiredError } from '../message/errors.js';
import { cutConnections } from './cut-connections.js';
import { isLockTimeout, isStatementLost } from './database-errors.js';
import { ShutdownDeadline } from './shutdown-deadline.js';
import { type Dialect, dialectOf } from './dialect.js';
import { StoreConnections, type StoreConnectionOptions } from './store-connections.js';
import { listenFromTheStart } from './postgres/connections.js';
import { privateConnection, whenFree } from './sqlite/connection.js';
import { SqliteTurns } from './sqlite/turns.js';
import type { Sql, Transaction } from './statements-on.js';
import { retried } from './transient-retry.js';
import { isUndone } from './transaction-state.js';
import type { WalSync } from './sqlite/wal-sync.js';

export type { Sql, Transaction } from './statements-on.js';

/** Changes no row, yet takes SQLite's write lock: what the transaction reads next cannot be outdated by another process. */
const TAKE_WRITE_LOCK = 'UPDATE messaging_lane SET fence = fence WHERE lane_key IS NULL';

/**
 * The store's way to the app's database. PostgreSQL and MySQL: the app's own pool, READ COMMITTED.
 * SQLite: TypeORM shares one connection among all flows, so the store keeps a private one and runs
 * each transaction within one turn of the event loop: no other flow of this process can find it
 * open, and another process's lock is waited for without blocking.
 */
export class StoreDatabase {
  readonly dialect: Dialect;
  readonly #connections: StoreConnections;
  /** The app's, or on SQLite one of the store's own. */
  #own: DataSource;
  #wal: WalSync | undefined;
  readonly #patience = new ShutdownDeadline(
    () => {
      if (this.dialect.kind !== 'sqlite') cutConnections(this.dataSource);
      return this.dataSource.isInitialized;
    },
    undefined,
    () => this.dialect.kind !== 'sqlite',
  );
  readonly #turns = new SqliteTurns(
    () => this.#own.createQueryRunner(),
    () => this.#wal?.done(),
    this.#patience.over,
  );

  constructor(
    readonly dataSource: DataSource,
    ways: StoreConnectionOptions = { silence: 30_000, preparedStatements: true },
    /** Names and ranks of the statuses. */
    readonly channels: ChannelRegistry = new ChannelRegistry([]),
  ) {
    this.dialect = dialectOf(dataSource);
    this.#own = dataSource;
    this.#connections = new StoreConnections(this.dialect, () => this.#own, {
      ...ways,
      preparedStatements: ways.preparedStatements && dataSource.options.type === 'postgres',
    });
  }

  async open(): Promise<void> {
    if (this.dialect.kind === 'postgres') listenFromTheStart(this.dataSource);
    if (this.dialect.kind !== 'sqlite' || this.#own !== this.dataSource) return;
    const { dataSource, wal } = await privateConnection(this.dataSource);
    this.#own = dataSource;
    this.#wal = wal;
  }

  /** The app stops: in so many milliseconds a database that owes an answer is given up. */
  hurry(milliseconds: number): void {
    this.#patience.hurry(milliseconds);
  }

  /** What hangs in a database that was given up is closed when it ends, if ever. */
  async close(): Promise<void> {
    const closed = this.#close();
    await this.#patience
      .wait(() => closed)
      .catch((error: unknown) => {
        if (!this.#patience.over.aborted) throw error;
      });
    this.#patience.close();
  }

  async #close(): Promise<void> {
    await this.#turns.idle();
    await this.#wal?.close();
    this.#wal = undefined;
    if (this.#own !== this.dataSource) await this.#own.destroy();
    this.#own = this.dataSource;
  }

  /** Reads outside a transaction. */
  all<T>(sql: string, params?: readonly unknown[]): Promise<T[]> {
    return this.#alone((one) => one.all<T>(sql, params));
  }

  /** One statement that is a transaction by itself. */
  statement<T>(sql: string, params: readonly unknown[] = []): Promise<T[]> {
    return this.dialect.kind === 'sqlite'
      ? this.transaction((tx) => tx.all<T>(sql, params))
      : retried(() => this.all<T>(sql, params));
  }

  /** Each statement is a transaction by itself. */
  readonly standalone: Sql = {
    all: (sql, params) => this.statement(sql, params),
    run: (sql, params) =>
      this.dialect.kind === 'postgres'
        ? retried(() => this.#alone((one) => one.run(sql, params)))
        : this.transaction((tx) => tx.run(sql, params)),
  };

  /** The store's own transaction; deadlocks and serialisation failures are tried again. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.dialect.kind === 'sqlite'
      ? this.#patience.wait(() =>
          this.#turns.transaction((runner) =>
            work(this.#connections.on(runner, this.#own.createEntityManager(runner))),
          ),
        )
      : retried(() => this.#pooled(work));
  }

  /**
   * A transaction that may meet locks of somebody else's: it waits for each so long and no longer.
   * @param patience milliseconds; MySQL and MariaDB count whole seconds
   * @throws an error {@link isLockTimeout} knows
   */
  impatiently<T>(patience: number, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.dialect.kind === 'sqlite'
      ? this.transaction(work)
      : retried(() => this.#pooled(work, patience), isLockTimeout);
  }

  /**
   * A caller's transaction. On SQLite callers take turns with each other and with the store; a plain
   * `dataSource.transaction()` there would join whatever transaction is open.
   */
  callerTransaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    if (this.dialect.kind !== 'sqlite')
      return retried(
        () => this.#patience.wait(() => this.dataSource.transaction('READ COMMITTED', work)),
        isStatementLost,
      );
    const turn = () =>
      this.dataSource.transaction(async (manager) => {
        await whenFree(() => manager.query(TAKE_WRITE_LOCK), this.#patience.over);
        return work(manager);
      });
    return this.#patience.wait(async () => {
      const result = await this.#turns.exclusively(() => this.#turns.guest(turn));
      // Its commit may have but written the log: the app's connection is as its driver has it.
      await this.#wal?.done();
      return result;
    });
  }

  /** Code that is not the store's, within a transaction: what it would wait for in vain is refused. */
  guest<T>(work: () => Promise<T>): Promise<T> {
    return this.dialect.kind === 'sqlite' ? this.#turns.guest(work) : work();
  }

  /** @throws TransactionRequiredError where `manager` is in no transaction of this data source. */
  join(manager: EntityManager): Transaction {
    const runner = manager.queryRunner;
    if (manager.dataSource !== this.dataSource && manager.dataSource !== this.#own)
      throw new TransactionRequiredError(
        "manager: belongs to another data source than the store; pass the manager of a transaction on the module's data source",
      );
    if (!runner?.isTransactionActive)
      throw new TransactionRequiredError(
        'manager: is not in a transaction; pass the manager that dataSource.transaction(async (manager) => …) gives you, or leave it out',
      );
    if (isUndone(runner))
      throw new TransactionRequiredError(
        'manager: SQLite has undone its transaction, for an error that somebody swallowed; let it fail',
      );
    return this.#connections.on(runner, manager);
  }

  /**
   * On SQLite writers take turns: one that waits for another from within its own turn would wait for ever.
   * @throws TransactionRequiredError within a transaction of this database's callers
   */
  refuseWithin(): void {
    this.#turns.refuseWithin();
  }

  #alone<T>(work: (one: Sql) => Promise<T>): Promise<T> {
    return this.#patience.wait(() => this.#connections.statement(work));
  }

  #pooled<T>(work: (tx: Transaction) => Promise<T>, patience?: number): Promise<T> {
    return this.#patience.wait(() => this.#connections.transaction(work, patience));
  }
}
