import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { DataSource, Logger } from 'typeorm';
import type { StoreDatabase } from '../../../libs/messaging/src/store/database/store-database.js';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { describeEachDatabase } from '../../support/databases.js';

const OFTEN = 12;
const ADD = 'INSERT INTO thing (name) VALUES (?)';
const READ = 'SELECT * FROM thing WHERE name = ?';

describeEachDatabase(
  'prepared statements',
  (database) => {
    let source: DataSource;
    let store: StoreDatabase;

    beforeEach(async () => {
      // One connection, so that each test knows which one it has.
      source = await database.open({ extra: { max: 1 } });
      await source.query('CREATE TABLE thing (name text)');
      store = databaseOf(source);
    });
    afterEach(async () => {
      await source.query('DROP TABLE thing');
      await source.destroy();
    });

    /** Prepared statements of the connection, by name. */
    const kept = async (): Promise<{ name: string; statement: string }[]> =>
      source.query(`SELECT name, statement FROM pg_prepared_statements ORDER BY name`);
    const repeatedly = async (work: () => Promise<unknown>, times = OFTEN) => {
      for (let run = 0; run < times; run++) await work();
    };
    const read = () => store.all<{ name: string }>(READ, ['a']);
    const write = () => store.fastPath((sql) => sql.run(ADD, ['a']));

    it('frequent statements are prepared, in and out of transactions, and rare ones are not', async () => {
      await repeatedly(() => store.transaction((tx) => tx.run(ADD, ['a'])));
      await repeatedly(read);
      await store.all('SELECT name FROM thing WHERE name <> ?', ['b']);
      expect((await kept()).map(({ statement }) => statement)).toEqual(
        expect.arrayContaining([ADD.replace('?', '$1'), READ.replace('?', '$1')]),
      );
      expect(await kept()).toHaveLength(2);
      expect(await read()).toHaveLength(OFTEN);
    });

    it('no statement is prepared where the option is off', async () => {
      store = databaseOf(source, { idleTimeout: 30_000, preparedStatements: false });
      await repeatedly(read);
      expect(await kept()).toEqual([]);
    });

    it('the number of prepared statements is bounded', async () => {
      for (let text = 0; text < 70; text++)
        await repeatedly(() => store.all(`SELECT ${text} FROM thing WHERE name = ?`, ['a']));
      expect((await kept()).length).toBe(64);
      await repeatedly(read);
      expect((await kept()).length).toBe(64);
    });

    it.each(['DISCARD ALL', 'DEALLOCATE ALL'])(
      '%s between two runs causes no error',
      async (lose) => {
        await repeatedly(write);
        await repeatedly(read);
        await source.query(lose);
        expect(await write()).toBe(1);
        expect(await read()).toHaveLength(OFTEN + 1);
        // Both are kept again.
        await write();
        await read();
        expect(await kept()).toHaveLength(2);
      },
    );

    it('a transaction of the store that loses its prepared statements is repeated once', async () => {
      await repeatedly(write);
      await repeatedly(read);
      let tries = 0;
      await store.transaction(async (tx) => {
        await tx.run(ADD, ['b']);
        if (++tries === 1) await tx.manager.query('DEALLOCATE ALL');
        return tx.all(READ, ['b']);
      });
      expect(tries).toBe(2);
      expect(await store.all(READ, ['b'])).toHaveLength(1);
      expect(await kept()).toHaveLength(2);
    });

    it('statements in the transaction of a caller are not prepared, so that their loss cannot break it', async () => {
      await repeatedly(write);
      await repeatedly(read);
      let tries = 0;
      const found = await store.callerTransaction(async (manager) => {
        tries++;
        await manager.query('DEALLOCATE ALL');
        const tx = store.join(manager);
        await tx.run(ADD, ['c']);
        return tx.all(READ, ['c']);
      });
      expect([tries, found]).toEqual([1, [{ name: 'c' }]]);
      expect(await kept()).toEqual([]);
    });

    it('statements on a changed table are prepared again', async () => {
      await repeatedly(read);
      await write();
      await source.query('ALTER TABLE thing ADD COLUMN size int');
      expect(await read()).toEqual([{ name: 'a', size: null }]);
      await source.query('ALTER TABLE thing ALTER COLUMN size TYPE text');
      await repeatedly(
        () =>
          store.transaction(async (tx) => {
            expect(await tx.all(READ, ['a'])).toEqual([{ name: 'a', size: null }]);
          }),
        2,
      );
      expect((await kept()).length).toBeGreaterThan(0);
    });

    it('a connection on which another client has taken a name, as behind a pooler, prepares no more statements', async () => {
      await repeatedly(read);
      const [statement] = await kept();
      await source.destroy();
      await source.initialize();
      await source.query(`PREPARE ${statement!.name} AS SELECT 'of somebody else' AS name`);
      expect(await read()).toEqual([]);
      await repeatedly(write);
      expect(await kept()).toHaveLength(1);
      expect(await read()).toHaveLength(OFTEN);
    });

    it('a connection that loses its statements repeatedly prepares no more statements', async () => {
      await repeatedly(read);
      await repeatedly(async () => {
        await source.query('DEALLOCATE ALL');
        expect(await read()).toEqual([]);
      }, 20);
      await repeatedly(read);
      expect(await kept()).toEqual([]);
    });

    it('the logger and the slow log get the text of a prepared statement', async () => {
      const told: unknown[] = [];
      const tell = (method: keyof Logger) => [
        method,
        (...said: unknown[]) => told.push([method, ...said.filter((part) => part !== null)]),
      ];
      const logger = Object.fromEntries(
        (['logQuery', 'logQueryError', 'logQuerySlow'] as const).map(tell),
      ) as unknown as Logger;
      const heard = await database.open({ logger, maxQueryExecutionTime: 1 });
      store = databaseOf(heard);
      const sleep = 'SELECT pg_sleep(?)::text AS slept';
      await repeatedly(() => store.all(sleep, [0.01]));
      await expect(store.all('SELECT 1 / ?::int AS broken', [0])).rejects.toThrow('division');
      await heard.destroy();
      const text = sleep.replace('?', '$1');
      expect(told).toContainEqual(['logQuery', text, [0.01], expect.anything()]);
      expect(told).toContainEqual([
        'logQuerySlow',
        expect.any(Number),
        text,
        [0.01],
        expect.anything(),
      ]);
      expect(told).toContainEqual(expect.arrayContaining(['logQueryError']));
    });
  },
  ['postgres'],
);
