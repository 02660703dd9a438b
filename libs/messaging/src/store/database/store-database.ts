import { setTimeout as wait } from 'node:timers/promises';
import {
  DataSource,
  type DataSourceOptions,
  type EntityManager,
  type QueryResult,
  type QueryRunner,
} from 'typeorm';
import type { ChannelRegistry } from '../../message/channel-registry.js';
import { TransactionRequiredError } from '../../message/errors.js';
import { isLockTimeout, isStatementLost } from './database-errors.js';
import type { Dialect } from './dialect.js';
import { ShutdownDeadline } from './shutdown-deadline.js';
import type { Sql, Transaction } from './sql.js';
import { ContentSeals } from '../rows/content-seals.js';
import type { AmbientTransaction } from '../../ports/ambient-transaction.js';
import type { FastPaths } from '../store.js';
import { retryTransient } from './retry.js';
import { type WatchedWrite, type WriteHealth, type WriteWait, WriteWatch } from './write-watch.js';

export type { Sql, Transaction } from './sql.js';

export interface StoreDatabaseOptions {
  /** Milliseconds after which the server ends an idle transaction. */
  readonly idleTimeout: number;
  readonly preparedStatements: boolean;
  /** Finds the transaction of a caller's flow. @default callers pass their managers */
  readonly ambient?: AmbientTransaction | undefined;
  readonly channels: ChannelRegistry;
  /** Encrypts contents with codes. @default they are stored in clear */
  readonly seals?: ContentSeals;
  /** `false`: every verb takes the slow path. @default true */
  readonly fastPaths?: boolean;
}

/** Longest wait, in ms, for the answer of another connection. */
const ANSWER_TIMEOUT = 2_000;

export abstract class StoreDatabase {
  protected readonly deadline = new ShutdownDeadline();
  protected readonly writes = new WriteWatch();
  readonly channels: ChannelRegistry;
  readonly seals: ContentSeals;
  readonly fastPaths: Partial<FastPaths>;
  #destroy: (() => Promise<void>) | undefined;

  constructor(
    readonly dataSource: DataSource,
    readonly dialect: Dialect,
    protected readonly options: StoreDatabaseOptions,
    fastPaths: Partial<FastPaths>,
  ) {
    this.channels = options.channels;
    this.seals = options.seals ?? new ContentSeals();
    this.fastPaths = options.fastPaths === false ? {} : fastPaths;
  }

  abstract open(): Promise<void>;

  abstract all<T>(sql: string, params?: readonly unknown[]): Promise<T[]>;

  /**
   * Repeated after deadlocks and serialisation failures. `lockTimeout`: ms for each lock wait, then
   * an error for {@link isLockTimeout}; MySQL counts whole seconds, SQLite has no row locks.
   */
  abstract transaction<T>(work: (tx: Transaction) => Promise<T>, lockTimeout?: number): Promise<T>;

  /** As {@link transaction}, for `work` that gives other work turns of the event loop. */
  longTransaction<T>(work: (tx: Transaction) => Promise<T>, lockTimeout?: number): Promise<T> {
    return this.transaction(work, lockTimeout);
  }

  /**
   * Reads within the transaction `tx`; its statements see the database as of one time, with all that has
   * committed before the call. They lock no row.
   */
  snapshotWithin<T>(tx: Transaction, read: (sql: Transaction) => Promise<T>): Promise<T> {
    return read(tx);
  }

  /** Within the transaction of the caller's flow, where it has one. SQLite serialises it with those of the store. */
  callerTransaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const ambient = this.options.ambient?.managerOf(this.dataSource);
    return ambient ? ambient.transaction(work) : this.newCallerTransaction(work);
  }

  protected abstract newCallerTransaction<T>(
    work: (manager: EntityManager) => Promise<T>,
  ): Promise<T>;

  /**
   * Reads at one moment, for `work` that gives other work turns of the event loop. Writes do not wait for
   * it; on SQLite their log grows until its end.
   */
  abstract snapshot<T>(work: (sql: Pick<Sql, 'all'>) => Promise<T>): Promise<T>;

  /** On PostgreSQL one statement by itself, else a short transaction. */
  fastPath<T>(work: (sql: Sql, tx?: Transaction) => Promise<T>): Promise<T> {
    return this.transaction((tx) => work(tx, tx));
  }

  /** Runs foreign code within a transaction; see {@link refuseWithin}. */
  runForeign<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  /** On SQLite a wait for a turn within a turn would never end. @throws TransactionRequiredError */
  refuseWithin(): void {}

  /** Reads no database. */
  writeHealth(): WriteHealth {
    const { waiting } = this.writes.longest();
    return { waiting, waitsFor: waiting > 0 ? this.waitsFor : undefined };
  }

  /**
   * Whether a transaction of this process has run no statement for `after` ms while the database answers
   * another connection: the writes that wait for it never go on. It is false while the database is away, or
   * locked by another process.
   */
  async isStuck(after: number): Promise<boolean> {
    return this.idleFor > after && (await this.#answersElsewhere());
  }

  protected get waitsFor(): WriteWait {
    return 'database';
  }

  /** Milliseconds. */
  protected get idleFor(): number {
    return this.writes.longest().idle;
  }

  /** Of no pool: stuck transactions may hold all of its connections. */
  async #answersElsewhere(): Promise<boolean> {
    const { options } = this.dataSource;
    const other = new DataSource({
      ...options,
      entities: [],
      subscribers: [],
      migrations: [],
      migrationsRun: false,
      synchronize: false,
      dropSchema: false,
      // On SQLite a statement that waits blocks the event loop.
      ...(options.type === 'better-sqlite3' && { timeout: 0 }),
    } as DataSourceOptions);
    const answer = other
      .initialize()
      .then(() => other.query('SELECT count(*) FROM messaging_instance'))
      .then(
        () => true,
        () => false,
      );
    void answer.then(() => other.destroy()).catch(() => undefined);
    return Promise.race([answer, wait(ANSWER_TIMEOUT, false, { ref: false })]);
  }

  /**
   * After the deadline, a database that does not answer is abandoned. Nest awaits `destroy()` of
   * the data source, so `destroy()` does not wait for those connections, either.
   */
  setShutdownDeadline(milliseconds: number): void {
    this.deadline.set(milliseconds);
    if (this.#destroy) return;
    const destroy = (this.#destroy = this.dataSource.destroy.bind(this.dataSource));
    this.dataSource.destroy = () => this.#untilAbandoned(destroy());
  }

  /** Does not wait for the connections of an abandoned database. */
  async close(): Promise<void> {
    await this.#untilAbandoned(this.end());
    this.deadline.close();
  }

  async #untilAbandoned(closing: Promise<void>): Promise<void> {
    try {
      await Promise.all([closing, this.deadline.wait(() => closing)]);
    } catch (error) {
      if (!this.deadline.over.aborted) throw error;
    }
  }

  /**
   * The transaction of the manager that a caller passes, or that the caller's flow has open.
   * @throws TransactionRequiredError as {@link join}
   */
  callersTransaction(manager: EntityManager | undefined): Transaction | undefined {
    const own = manager ?? this.options.ambient?.managerOf(this.dataSource);
    return own && this.join(own);
  }

  /** @throws TransactionRequiredError where `manager` is in no transaction of this data source. */
  join(manager: EntityManager): Transaction {
    const runner = manager.queryRunner;
    if (!this.owns(manager.dataSource))
      throw new TransactionRequiredError(
        "manager: belongs to another data source than the store; pass the manager of a transaction on the module's data source",
      );
    if (!runner?.isTransactionActive)
      throw new TransactionRequiredError(
        'manager: is not in a transaction; pass the manager that dataSource.transaction(async (manager) => …) gives you, or leave it out',
      );
    return this.on(runner, manager, this.isOwn(runner));
  }

  /** Whether the store acquired the connection for a transaction of its own. */
  protected isOwn(_runner: QueryRunner): boolean {
    return false;
  }

  protected async end(): Promise<void> {}

  protected owns(dataSource: DataSource): boolean {
    return dataSource === this.dataSource;
  }

  /**
   * @param isOwn whether the store acquired the connection, and not a caller
   * @param write whose statements they are
   */
  protected on(
    runner: QueryRunner,
    manager: EntityManager,
    isOwn = false,
    write?: WatchedWrite,
  ): Transaction {
    const query = (sql: string, params: readonly unknown[] = []) => {
      const answer = this.query(runner, this.dialect.placeholders(sql), params, isOwn);
      return write ? write.during(answer) : answer;
    };
    return {
      manager,
      all: async <T>(sql: string, params?: readonly unknown[]) =>
        (await query(sql, params)).records as T[],
      run: async (sql, params) => {
        const { affected, raw } = await query(sql, params);
        return affected ?? (raw as { affectedRows?: number } | undefined)?.affectedRows ?? 0;
      },
    };
  }

  protected query(
    runner: QueryRunner,
    text: string,
    params: readonly unknown[],
    _isOwn: boolean,
  ): Promise<QueryResult> {
    return runner.query(text, params as unknown[], true);
  }
}

/** The app's pool, READ COMMITTED. */
export abstract class ServerDatabase extends StoreDatabase {
  /** Of the store's transactions. */
  readonly #runners = new WeakSet<QueryRunner>();

  async open(): Promise<void> {}

  all<T>(sql: string, params?: readonly unknown[]): Promise<T[]> {
    return this.alone((one) => one.all<T>(sql, params));
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>, lockTimeout?: number): Promise<T> {
    return retryTransient(
      () => this.#transaction(work, lockTimeout),
      (error) => lockTimeout !== undefined && isLockTimeout(error),
    );
  }

  /** InnoDB and PostgreSQL keep the rows of the first read for the whole transaction. */
  snapshot<T>(work: (sql: Transaction) => Promise<T>): Promise<T> {
    const reading = async (): Promise<T> => {
      const runner = this.dataSource.createQueryRunner();
      try {
        await runner.startTransaction('REPEATABLE READ');
        return await work(this.on(runner, runner.manager));
      } finally {
        // It has written nothing.
        await runner.rollbackTransaction().catch(() => undefined);
        await runner.release();
      }
    };
    return retryTransient(() => this.deadline.wait(reading));
  }

  /** On another connection: the store's transactions see each commit. */
  override snapshotWithin<T>(_tx: Transaction, read: (sql: Transaction) => Promise<T>): Promise<T> {
    return this.snapshot(read);
  }

  protected newCallerTransaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const watched = (write: WatchedWrite) =>
      this.dataSource.transaction('READ COMMITTED', (manager) => {
        if (manager.queryRunner) watch(manager.queryRunner, write);
        return work(manager);
      });
    return retryTransient(
      () => this.deadline.wait(() => this.writes.run(watched)),
      isStatementLost,
    );
  }

  protected alone<T>(work: (one: Sql) => Promise<T>): Promise<T> {
    return this.deadline.wait(async () => {
      const runner = this.dataSource.createQueryRunner();
      try {
        return await work(this.on(runner, runner.manager, true));
      } finally {
        await runner.release();
      }
    });
  }

  protected override isOwn(runner: QueryRunner): boolean {
    return this.#runners.has(runner);
  }

  /** The server ends an idle transaction: a frozen process must not keep locks from others. */
  protected abstract begin(runner: QueryRunner, lockTimeout: number | undefined): Promise<void>;

  /** Restores the settings that {@link begin} changed: the connection belongs to the app. */
  protected async restore(_runner: QueryRunner): Promise<void> {}

  #transaction<T>(work: (tx: Transaction) => Promise<T>, lockTimeout?: number): Promise<T> {
    const watched = async (write: WatchedWrite) => {
      const runner = this.dataSource.createQueryRunner();
      this.#runners.add(runner);
      try {
        await this.begin(runner, lockTimeout);
        write.works();
        const result = await work(this.on(runner, runner.manager, true, write));
        await write.during(runner.commitTransaction());
        return result;
      } catch (error) {
        if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
        throw error;
      } finally {
        // A broken connection has no settings to restore.
        await this.restore(runner).catch(() => undefined);
        await runner.release();
      }
    };
    return this.deadline.wait(() => this.writes.run(watched));
  }
}

/** For a connection that is the transaction's own. */
function watch(runner: QueryRunner, write: WatchedWrite): void {
  const query = runner.query.bind(runner);
  write.works();
  runner.query = ((...statement: Parameters<QueryRunner['query']>) =>
    write.during(query(...statement))) as QueryRunner['query'];
}
