import { DataSource, type EntityManager } from 'typeorm';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js';
import { MessagingConfigError, TransactionRequiredError } from '../../message/errors.js';
import {
  type Sql,
  StoreDatabase,
  type StoreDatabaseOptions,
  type Transaction,
} from '../database/store-database.js';
import { steppedReserve } from '../verbs/stepped-reserve.js';
import { steppedSettle } from '../verbs/stepped-settle.js';
import { isOpen, isUndone } from '../database/transaction-state.js';
import type { WriteWait } from '../database/write-watch.js';
import { CallerTransactions } from './caller-transaction.js';
import { SQLITE_DIALECT } from './dialect.js';
import { intend } from './intend.js';
import { SqliteTurns } from './turns.js';
import { WalSync } from './wal-sync.js';
import { WriteLock } from './write-lock.js';

/** For pages that are rewritten often: cache in KiB, and 4 KiB pages before a checkpoint. */
const CACHE = ['cache_size = -32000', 'wal_autocheckpoint = 8000'];

/**
 * Set on a driver whose connections share one database in memory and its transaction, as that of the
 * testing kit: it refuses `BEGIN IMMEDIATE` within a transaction as busy.
 */
export const IN_MEMORY = Symbol('IN_MEMORY');

/**
 * Prepared statements that a connection keeps. With billing the store runs more than the 100 of which
 * TypeORM drops the oldest, however often it runs.
 */
const STATEMENTS = 1_000;

/** Milliseconds for which TypeORM lets a statement wait for a lock, unless the app sets `timeout`. */
const BUSY_TIMEOUT = 5_000;

/** A transaction of an app. */
type Work<T> = (manager: EntityManager) => Promise<T>;

const FAST_PATHS = {
  intend,
  reserve: steppedReserve(SQLITE_DIALECT),
  settle: steppedSettle(SQLITE_DIALECT),
};

/**
 * TypeORM shares one SQLite connection among all flows of a process. The store has its own, and
 * runs each transaction within one turn of the event loop, so no other flow can join it.
 */
export class SqliteDatabase extends StoreDatabase {
  /** The store's connection while it is open, the app's before and after. */
  #own: DataSource;
  /** `undefined`: each commit syncs by itself. */
  #wal: WalSync | undefined;
  readonly #lock = new WriteLock(
    () => isOpen(this.dataSource.createQueryRunner()),
    this.deadline.over,
  );
  readonly #turns = new SqliteTurns(
    () => this.#own.createQueryRunner(),
    this.#lock,
    () => this.#wal?.done(),
  );
  readonly #callers: CallerTransactions;
  #unwatch: () => void = () => undefined;

  constructor(dataSource: DataSource, options: StoreDatabaseOptions) {
    super(dataSource, SQLITE_DIALECT, options, FAST_PATHS);
    this.#own = dataSource;
    const { timeout = BUSY_TIMEOUT } = dataSource.options as BetterSqlite3DataSourceOptions;
    const runnerOf = () => this.dataSource.createQueryRunner();
    const waits = isShared(dataSource) ? 0 : timeout;
    this.#callers = new CallerTransactions(runnerOf, this.#turns, this.#lock, waits);
  }

  /** @throws MessagingConfigError for a database without a file */
  async open(): Promise<void> {
    if (this.#own !== this.dataSource) return;
    const options = this.dataSource.options as BetterSqlite3DataSourceOptions;
    if (!isShared(this.dataSource) && (options.database === ':memory:' || options.database === ''))
      throw new MessagingConfigError(
        'dataSource: an in-memory SQLite database is lost with the process and cannot be shared; use a file',
      );
    const own = new DataSource(this.#ownOptions);
    await own.initialize();
    for (const pragma of CACHE) await own.query(`PRAGMA ${pragma}`);
    const [mode] = await own.query<{ journal_mode: string }[]>('PRAGMA journal_mode = WAL');
    // Some file systems do not support WAL.
    this.#wal = mode?.journal_mode === 'wal' ? await WalSync.open(own) : undefined;
    await own.query(`PRAGMA synchronous = ${this.#wal ? 'NORMAL' : 'FULL'}`);
    this.#own = own;
    this.#watchTransactions();
  }

  all<T>(sql: string, params?: readonly unknown[]): Promise<T[]> {
    return this.deadline.wait(async () => {
      const runner = this.#own.createQueryRunner();
      try {
        return await this.on(runner, runner.manager).all<T>(sql, params);
      } finally {
        await runner.release();
      }
    });
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.deadline.wait(() =>
      this.writes.run(() =>
        this.#turns.transaction((runner) =>
          work(this.on(runner, this.#own.createEntityManager(runner))),
        ),
      ),
    );
  }

  /** Serialised: a plain `dataSource.transaction()` would join any open transaction. */
  protected newCallerTransaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.deadline.wait(() =>
      this.writes.run(async (write) => {
        const result = await this.#turns.exclusively(() => this.#callers.run(work, write));
        write.waits();
        // A commit on the app's connection may have written the WAL without a sync.
        await this.#wal?.done();
        return result;
      }),
    );
  }

  /** On the app's connection: on the store's own, others would read uncommitted rows. */
  override longTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.newCallerTransaction((manager) => work(this.join(manager)));
  }

  /** On a connection of its own. Without a WAL a commit cannot pass a reader: writes wait, as for a transaction. */
  snapshot<T>(work: (sql: Pick<Sql, 'all'>) => Promise<T>): Promise<T> {
    if (!this.#wal) return this.newCallerTransaction((manager) => work(this.join(manager)));
    return this.deadline.wait(async () => {
      const own = { ...this.#ownOptions, entities: [], migrations: [] };
      const reader = await new DataSource(own).initialize();
      try {
        const runner = reader.createQueryRunner();
        await runner.query('BEGIN');
        return await work(this.on(runner, runner.manager));
      } finally {
        await reader.destroy();
      }
    });
  }

  /** A further connection to the file. */
  get #ownOptions(): BetterSqlite3DataSourceOptions {
    return {
      ...(this.dataSource.options as BetterSqlite3DataSourceOptions),
      synchronize: false,
      dropSchema: false,
      migrationsRun: false,
      subscribers: [],
      timeout: 0,
      statementCacheSize: STATEMENTS,
    };
  }

  override runForeign<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.runForeign(work, 'a listener');
  }

  protected override get waitsFor(): WriteWait {
    const { holder } = this.#lock;
    if (holder === 'process') return 'locked';
    return holder || this.#turns.isForeign ? 'transaction_open' : 'database';
  }

  protected override get idleFor(): number {
    return Math.max(super.idleFor, this.#lock.openFor);
  }

  override refuseWithin(): void {
    this.#turns.refuseWithin();
  }

  protected override owns(dataSource: DataSource): boolean {
    return dataSource === this.dataSource || dataSource === this.#own;
  }

  override join(manager: EntityManager): Transaction {
    const tx = super.join(manager);
    if (manager.queryRunner && isUndone(manager.queryRunner))
      throw new TransactionRequiredError(
        'manager: SQLite has undone its transaction, for an error that was caught and ignored; let it fail',
      );
    return tx;
  }

  /**
   * What a flow does within a `dataSource.transaction()` of its own, without its manager, would wait for
   * the end of this transaction. One of a query runner is not seen here: from its start on the flow that
   * asked for it cannot be told from one that runs beside it.
   */
  #watchTransactions(): void {
    const { manager } = this.dataSource;
    const begin = manager.transaction.bind(manager);
    const within =
      <T>(work: Work<T>): Work<T> =>
      (own) =>
        this.#turns.runForeign(() => work(own), 'a transaction of dataSource.transaction()');
    // TypeORM passes on both parameters, also where it was called with one.
    manager.transaction = <T>(level: Work<T> | IsolationLevel, work?: Work<T>): Promise<T> =>
      typeof level === 'function' ? begin(within(level)) : begin(level, within(work!));
    this.#unwatch = () => (manager.transaction = begin);
  }

  protected override async end(): Promise<void> {
    this.#unwatch();
    await this.#turns.idle();
    await this.#wal?.close();
    this.#wal = undefined;
    if (this.#own !== this.dataSource) await this.#own.destroy();
    this.#own = this.dataSource;
  }
}

function isShared({ options }: DataSource): boolean {
  const { driver } = options as BetterSqlite3DataSourceOptions;
  return Boolean(driver && IN_MEMORY in driver);
}
