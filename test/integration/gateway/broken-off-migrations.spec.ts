import { expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { migrateDatabase, pendingMigrations } from '@dundun/messaging/migrations';
import { SilentTypeOrmLogger } from '../../../src/config/database.js';
import { parseDatabaseUrl } from '../../../src/config/database-url.js';
import { dataSourceOptions } from '../../../src/gateway-database.js';
import { describeEachDatabase } from '../../support/databases.js';

// Migrates a database once for each of its statements.
jest.setTimeout(300_000);

/** Statements that change the schema or rows; MariaDB commits each schema change. */
const CHANGE = /^\s*(CREATE|ALTER|DROP|INSERT|UPDATE|DELETE)\b/i;

class BrokenOff extends Error {}

Logger.overrideLogger(false);

describeEachDatabase(
  "the gateway's migrations",
  (database) => {
    const open = (url: string) =>
      new DataSource({
        ...dataSourceOptions({
          DATABASE_URL: parseDatabaseUrl(url),
        }),
        logger: new SilentTypeOrmLogger(),
      }).initialize();

    /** @returns false: it came to its end before any statement it had not made before */
    async function isBrokenOff(source: DataSource, made: Set<string>): Promise<boolean> {
      const create = source.createQueryRunner.bind(source);
      source.createQueryRunner = (mode) => {
        const runner = create(mode);
        const query = runner.query.bind(runner);
        return Object.assign(runner, {
          query: async (sql: string, ...rest: [unknown[]?]) => {
            const answer: unknown = await query(sql, ...rest);
            const statement = sql + JSON.stringify(rest);
            if (!CHANGE.test(sql) || made.has(statement)) return answer;
            made.add(statement);
            throw new BrokenOff(sql);
          },
        });
      };
      try {
        await migrateDatabase(source);
        return false;
      } catch (error) {
        if (error instanceof BrokenOff) return true;
        throw error;
      } finally {
        await source.destroy();
      }
    }

    it('migrations interrupted after any statement continue to the same tables', async () => {
      const made = new Set<string>();
      while (await isBrokenOff(await open(database.url), made));
      expect(made.size).toBeGreaterThan(20);
      const whole = await open(await database.another());
      await migrateDatabase(whole);
      const completed = await open(database.url);
      expect(await pendingMigrations(completed)).toEqual([]);
      expect(await tablesOf(completed)).toEqual(await tablesOf(whole));
      await whole.destroy();
      await completed.destroy();
      // It runs all migrations once for each of their statements.
    });
  },
  ['mariadb'],
);

/** The server's definition of each table, without the next row number. */
async function tablesOf(source: DataSource): Promise<string[]> {
  const tables: { name: string }[] = await source.query(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database() ORDER BY 1',
  );
  const said: string[] = [];
  for (const { name } of tables)
    said.push(JSON.stringify(await source.query(`SHOW CREATE TABLE ${name}`)));
  return said.map((one) => one.replace(/ AUTO_INCREMENT=\d+/, ''));
}
