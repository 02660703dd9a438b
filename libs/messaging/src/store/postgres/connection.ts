import type { EventEmitter } from 'node:events';
import type { DataSource, QueryResult, QueryRunner } from 'typeorm';
import type { FastPaths } from '../store.js';
import { ServerDatabase, type Sql, type StoreDatabaseOptions } from '../database/store-database.js';
import { refusalOfWrites } from '../database/database-errors.js';
import { setInTransaction } from '../database/transaction-state.js';
import { retryTransient } from '../database/retry.js';
import { POSTGRES_DIALECT } from './dialect.js';
import { enqueue } from './enqueue.js';
import { intend } from './intend.js';
import { releaseLanes, takeLanes } from './lanes.js';
import { plan } from './plan.js';
import { PreparedStatements } from './prepared-statements.js';
import { report } from './report.js';
import { settle } from './settle.js';

const FAST_PATHS: FastPaths = {
  enqueue,
  intend,
  plan,
  releaseLanes,
  report,
  reserve: enqueue,
  settle,
  takeLanes,
};

export class PostgresDatabase extends ServerDatabase {
  readonly #prepared: PreparedStatements | undefined;

  constructor(dataSource: DataSource, options: StoreDatabaseOptions) {
    super(dataSource, POSTGRES_DIALECT, options, FAST_PATHS);
    if (options.preparedStatements && dataSource.options.type === 'postgres')
      this.#prepared = new PreparedStatements();
  }

  override async open(): Promise<void> {
    listenFromTheStart(this.dataSource);
  }

  readonly #standalone: Sql = {
    all: (sql, params) => retryTransient(() => this.all(sql, params)),
    run: (sql, params) => retryTransient(() => this.alone((one) => one.run(sql, params))),
  };

  override fastPath<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.writes.run(() => work(this.#standalone));
  }

  /** Prepares only the store's own statements: a caller's could not be repeated after a loss. */
  protected override async query(
    runner: QueryRunner,
    text: string,
    params: readonly unknown[],
    isOwn: boolean,
  ): Promise<QueryResult> {
    const name = isOwn ? this.#prepared?.nameOf(text) : undefined;
    if (name === undefined) return super.query(runner, text, params, isOwn);
    const { rows, rowCount } = await this.#prepared!.run(runner, name, text, params);
    return { records: rows, raw: rows, affected: rowCount ?? 0 };
  }

  protected async begin(runner: QueryRunner, lockTimeout: number | undefined): Promise<void> {
    setInTransaction(runner, true);
    const lock =
      lockTimeout === undefined ? '' : `; SET LOCAL lock_timeout = ${Math.ceil(lockTimeout)}`;
    await runner.query(
      `START TRANSACTION ISOLATION LEVEL READ COMMITTED;
       SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(this.options.idleTimeout)}${lock}`,
    );
  }
}

/** As `pg` has it. */
interface Connection extends EventEmitter {
  readonly connection?: EventEmitter;
  end(): Promise<void>;
}

/**
 * TypeORM adds its error listener a moment after a connection opens; one that breaks in between (a
 * failover, a pooler at its limit) would end the process with an unhandled error.
 */
function listenFromTheStart({ driver }: DataSource): void {
  const { master, slaves = [] } = driver as { master?: EventEmitter; slaves?: EventEmitter[] };
  for (const pool of [master, ...slaves])
    if (pool && !pool.listeners('connect').includes(listen))
      pool.on('connect', listen).on('release', leaveReadOnly);
}

/** Connections that refused a write. */
const readOnly = new WeakSet<Connection>();

function listen(client: Connection): void {
  client.on('error', () => undefined);
  client.connection?.on('errorMessage', (error: unknown) => {
    if (refusalOfWrites(error) === 'read_only') readOnly.add(client);
  });
}

/**
 * A session keeps the read-only default it began with, and its server may be the standby of a new
 * primary: the pool opens another connection.
 */
function leaveReadOnly(_error: unknown, client: Connection): void {
  if (readOnly.delete(client)) void client.end().catch(() => undefined);
}
