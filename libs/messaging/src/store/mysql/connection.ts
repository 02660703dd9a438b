import type { DataSource, QueryResult, QueryRunner } from 'typeorm';
import { steppedReserve } from '../verbs/stepped-reserve.js';
import { steppedSettle } from '../verbs/stepped-settle.js';
import { ServerDatabase, type StoreDatabaseOptions } from '../database/store-database.js';
import { MYSQL_DIALECT } from './dialect.js';

/** These settings belong to the session, so they are restored after each transaction. */
const RESTORE = `SET SESSION wait_timeout = @messaging_wait_timeout,
  SESSION innodb_lock_wait_timeout = @messaging_lock_wait,
  SESSION sql_mode = @messaging_sql_mode`;

/** Without a strict mode the server cuts a text that is too long, and answers that it is stored. */
const STRICT = `SESSION sql_mode = CONCAT_WS(',', NULLIF(@@sql_mode, ''), 'STRICT_TRANS_TABLES')`;

const FAST_PATHS = {
  reserve: steppedReserve(MYSQL_DIALECT),
  settle: steppedSettle(MYSQL_DIALECT),
};

export class MysqlDatabase extends ServerDatabase {
  /** The mode in which sessions begin, where it is not strict. */
  #laxMode: string | undefined;
  /** The store's statements in flight in callers' transactions. */
  readonly #inFlight = new WeakMap<QueryRunner, number>();

  constructor(dataSource: DataSource, options: StoreDatabaseOptions) {
    super(dataSource, MYSQL_DIALECT, options, FAST_PATHS);
  }

  protected async begin(runner: QueryRunner, lockTimeout: number | undefined): Promise<void> {
    const lock =
      lockTimeout === undefined
        ? ''
        : `, SESSION innodb_lock_wait_timeout = ${seconds(lockTimeout)}`;
    await runner.query(`SET @messaging_wait_timeout = @@wait_timeout,
      @messaging_lock_wait = @@innodb_lock_wait_timeout, @messaging_sql_mode = @@sql_mode,
      ${STRICT}, SESSION wait_timeout = ${seconds(this.options.idleTimeout)}${lock}`);
    return runner.startTransaction('READ COMMITTED');
  }

  override async open(): Promise<void> {
    const [session] = await this.all<{ mode: string }>('SELECT @@sql_mode AS mode');
    this.#laxMode = session?.mode.includes('STRICT_') ? undefined : session?.mode;
  }

  /** In a caller's transaction the store's statements alone are strict: the session is the app's. */
  protected override async query(
    runner: QueryRunner,
    text: string,
    params: readonly unknown[],
    isOwn: boolean,
  ): Promise<QueryResult> {
    if (isOwn || this.#laxMode === undefined) return super.query(runner, text, params, isOwn);
    this.#inFlight.set(runner, (this.#inFlight.get(runner) ?? 0) + 1);
    try {
      await runner.query(`SET ${STRICT}`);
      return await super.query(runner, text, params, isOwn);
    } finally {
      const others = (this.#inFlight.get(runner) ?? 1) - 1;
      this.#inFlight.set(runner, others);
      // A broken connection has no mode to restore.
      if (others === 0)
        await runner.query('SET SESSION sql_mode = ?', [this.#laxMode]).catch(() => undefined);
    }
  }

  protected override async restore(runner: QueryRunner): Promise<void> {
    await runner.query(RESTORE);
  }
}

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1_000));
}
