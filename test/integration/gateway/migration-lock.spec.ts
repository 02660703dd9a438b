import { expect, it } from '@jest/globals';
import {
  DataSource,
  type DataSourceOptions,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';
import {
  migrateDatabase,
  pendingMigrations,
  withMigrationLock,
} from '@dundun/messaging/migrations';
import { describeEachDatabase } from '../../support/databases.js';

class First1700000000000 implements MigrationInterface {
  readonly name = 'First1700000000000';
  up(runner: QueryRunner): Promise<void> {
    return runner.query('CREATE TABLE first_table (id INTEGER)') as Promise<void>;
  }
  down = (): Promise<void> => Promise.resolve();
}

const LOCKS = {
  postgres: ['SELECT pg_advisory_lock(741852963)', 'SELECT pg_advisory_unlock(741852963)'],
  mariadb: [
    "SELECT GET_LOCK(CONCAT('messaging-741852963-', MD5(LOWER(DATABASE()))), 1)",
    "SELECT RELEASE_LOCK(CONCAT('messaging-741852963-', MD5(LOWER(DATABASE()))))",
  ],
} as const;

describeEachDatabase(
  "the gateway's migration lock",
  (database) => {
    it('the migration lock is waited for and a process without it migrates nothing', async () => {
      const other = await database.open();
      const [take, give] = LOCKS[database.kind as keyof typeof LOCKS];
      const holder = other.createQueryRunner();
      await holder.query(take);
      const own = await database.open({ migrations: [First1700000000000] });
      await expect(migrateDatabase(own, { timeout: 1_000 })).rejects.toThrow(/migration lock/);
      expect(await pendingMigrations(own)).toEqual(['First1700000000000']);
      const waiting = migrateDatabase(own);
      await holder.query(give);
      await waiting;
      expect(await pendingMigrations(own)).toEqual([]);
      // It is given back: the next one need not wait.
      await withMigrationLock(other, async () => undefined, { timeout: 1_000 });
      await holder.release();
    });

    it('a migration does not wait for one of another database of the server', async () => {
      const url = await database.another();
      const options = { ...database.options({ migrations: [First1700000000000] }), url };
      const elsewhere = await new DataSource(options as DataSourceOptions).initialize();
      await withMigrationLock(await database.open(), () =>
        migrateDatabase(elsewhere, { timeout: 1_000 }),
      );
      expect(await pendingMigrations(elsewhere)).toEqual([]);
      await elsewhere.destroy();
    });
  },
  ['postgres', 'mariadb'],
);
