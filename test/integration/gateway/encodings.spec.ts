import { MessagingModule, simulator } from '@dundun/messaging';
import { migrateDatabase } from '@dundun/messaging/migrations';
import { expect, it, jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import mysql from 'mysql2';
import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { databaseModule } from '../../../src/config/database.js';
import { parseDatabaseUrl } from '../../../src/config/database-url.js';
import { EnvironmentError, readEnvironment } from '../../../src/config/environment.js';
import { dataSourceOptions, openGatewayDatabase } from '../../../src/gateway-database.js';
import { describeEachDatabase, inEachSession } from '../../support/databases.js';

const failureOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error) => error);

async function boot(options: DataSourceOptions): Promise<void> {
  const source = await new DataSource(options).initialize();
  try {
    const app = await Test.createTestingModule({
      imports: [
        databaseModule(source),
        MessagingModule.forRoot({ transport: simulator(), callbackPath: false }),
      ],
    }).compile();
    await app.init();
    await app.close();
  } finally {
    if (source.isInitialized) await source.destroy();
  }
}

describeEachDatabase(
  'a database in LATIN1',
  (database) => {
    it('a database that is not in UTF8 is refused with the remedy, and gets no table', async () => {
      const { pathname } = new URL(database.url);
      const name = `${pathname.slice(1)}_latin1`;
      const source = await database.open();
      await source.query(
        `CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
      );
      const url = database.url.replace(pathname, `/${name}`);
      try {
        expect(await failureOf(boot({ type: 'postgres', url }))).toMatchObject({
          code: 'invalid_config',
          message: expect.stringMatching(/dataSource: .*LATIN1.*ENCODING 'UTF8'/),
        });
        const opened = openGatewayDatabase(readEnvironment({ DATABASE_URL: url }), 'empty');
        const failure = await failureOf(opened);
        expect(failure).toBeInstanceOf(EnvironmentError);
        expect(failure.message).toMatch(/DATABASE_URL: .*LATIN1.*ENCODING 'UTF8'/);
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        const { rows } = await client.query(
          "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
        );
        await client.end();
        expect(rows).toEqual([]);
      } finally {
        await source.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }
    });
  },
  ['postgres'],
);

describeEachDatabase(
  'connections',
  (database) => {
    it('a connection in another character set, or with a mode that breaks literals, is refused', async () => {
      const latin1 = { ...database.options(), charset: 'latin1' } as DataSourceOptions;
      expect(await failureOf(boot(latin1))).toMatchObject({
        code: 'invalid_config',
        message: expect.stringMatching(/latin1.*charset: 'utf8mb4'/),
      });
      const mode = "sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')";
      expect(await failureOf(boot(inEachSession(database.options(), mode)))).toMatchObject({
        code: 'invalid_config',
        message: expect.stringContaining('NO_BACKSLASH_ESCAPES'),
      });
    });

    it('the gateway’s connections are strict where the server’s mode is not, and cut no text', async () => {
      const DATABASE_URL = parseDatabaseUrl(database.url);
      const { createPool } = mysql;
      const pools = jest.spyOn(mysql, 'createPool').mockImplementation((options) => {
        const pool = createPool(options);
        pool.on('connection', (connection) => void connection.query("SET SESSION sql_mode = ''"));
        return pool;
      });
      const source = await new DataSource(dataSourceOptions({ DATABASE_URL })).initialize();
      try {
        await source.query('CREATE TABLE own (a VARCHAR(2))');
        await expect(source.query("INSERT INTO own VALUES ('abc')")).rejects.toThrow(/too long/i);
        await source.query('DROP TABLE own');
      } finally {
        pools.mockRestore();
        await source.destroy();
      }
    });

    it('migrations leave every table and column in utf8mb4, with the rows that it has', async () => {
      const DATABASE_URL = parseDatabaseUrl(database.url);
      const source = await new DataSource(dataSourceOptions({ DATABASE_URL })).initialize();
      try {
        await migrateDatabase(source);
        const name = 'UnicodeTables1790000000900';
        await source.query('DELETE FROM migrations WHERE name = ?', [name]);
        await source.query('ALTER TABLE gateway_account DEFAULT CHARACTER SET latin1');
        await source.query("ALTER TABLE gateway_account ADD COLUMN later VARCHAR(20) DEFAULT 'é'");
        await migrateDatabase(source);
        const other = await source.query(
          `SELECT table_name AS name, character_set_name AS charset FROM information_schema.columns
           WHERE table_schema = DATABASE() AND table_name <> 'migrations' AND character_set_name <> 'utf8mb4'
           UNION SELECT table_name, table_collation FROM information_schema.tables
           WHERE table_schema = DATABASE() AND table_name <> 'migrations' AND table_collation NOT LIKE 'utf8mb4%'`,
        );
        expect(other).toEqual([]);
      } finally {
        await source.destroy();
      }
    });
  },
  ['mariadb'],
);
