import type { DataSource, QueryRunner } from 'typeorm';
import { steppedSettle } from '../verbs/stepped-settle.js';
import { ServerDatabase, type StoreDatabaseOptions } from '../database/store-database.js';
import { MYSQL_DIALECT } from './dialect.js';

/** These limits belong to the session, so they are restored after each transaction. */
const RESTORE = `SET SESSION wait_timeout = @messaging_wait_timeout,
  SESSION innodb_lock_wait_timeout = @messaging_lock_wait`;

const MYSQL_SETTLE = steppedSettle(MYSQL_DIALECT);

export class MysqlDatabase extends ServerDatabase {
  constructor(dataSource: DataSource, options: StoreDatabaseOptions) {
    super(dataSource, MYSQL_DIALECT, options, { settle: MYSQL_SETTLE });
  }

  protected async begin(runner: QueryRunner, lockTimeout: number | undefined): Promise<void> {
    const lock =
      lockTimeout === undefined
        ? ''
        : `, SESSION innodb_lock_wait_timeout = ${seconds(lockTimeout)}`;
    await runner.query(`SET @messaging_wait_timeout = @@wait_timeout,
      @messaging_lock_wait = @@innodb_lock_wait_timeout,
      SESSION wait_timeout = ${seconds(this.options.idleTimeout)}${lock}`);
    return runner.startTransaction('READ COMMITTED');
  }

  protected override async restore(runner: QueryRunner): Promise<void> {
    await runner.query(RESTORE);
  }
}

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1_000));
}
