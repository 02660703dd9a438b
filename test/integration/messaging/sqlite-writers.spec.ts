import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { StoreDatabase } from '../../../libs/messaging/src/store/database/store-database.js';
import { refusalOfWrites } from '../../../libs/messaging/src/store/database/database-errors.js';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { SqliteTurns } from '../../../libs/messaging/src/store/sqlite/turns.js';
import { WriteLock } from '../../../libs/messaging/src/store/sqlite/write-lock.js';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

/** Read by another connection, to find out whether the database answers. */
const INSTANCE = 'messaging_instance (id INTEGER)';

/** A promise and the function that resolves it. */
function held(): { readonly until: Promise<void>; readonly end: () => void } {
  let end = (): void => undefined;
  const until = new Promise<void>((resolve) => (end = resolve));
  return { until, end };
}

describeEachDatabase(
  'an SQLite file with several writers',
  (database: TestDatabase) => {
    /** The app's connection. */
    let source: DataSource;
    /** Locks as those of another process. */
    let other: DataSource;
    let store: StoreDatabase;

    beforeEach(async () => {
      source = await database.open();
      other = await new DataSource({
        ...database.options(),
        timeout: 0,
      } as typeof source.options).initialize();
      await other.query('PRAGMA journal_mode = WAL');
      const tables = ['kept (value INTEGER PRIMARY KEY)', 'filled (value BLOB)', INSTANCE];
      for (const table of tables) await other.query(`CREATE TABLE IF NOT EXISTS ${table}`);
      await other.query('DELETE FROM kept');
      store = databaseOf(source);
      await store.open();
    });
    afterEach(async () => {
      await store.close();
      await source.destroy();
      await other.destroy();
    });

    const insert = (value: number) => `INSERT INTO kept (value) VALUES (${value})`;
    const write = (value: number) => store.transaction((tx) => tx.run(insert(value)));
    const values = async (reader = other): Promise<number[]> =>
      (await reader.query<{ value: number }[]>('SELECT value FROM kept ORDER BY value')).map(
        ({ value }) => value,
      );

    describe('beside another process', () => {
      it('a transaction that waits for another process sees what that one commits, also where another flow reads meanwhile', async () => {
        await other.query('BEGIN IMMEDIATE');
        const seen: number[][] = [];
        const written = store.callerTransaction(async (manager) => {
          seen.push((await manager.query('SELECT value FROM kept')) as number[]);
          await manager.query(insert(2));
        });
        for (let turns = 0; turns < 20; turns++) {
          await turn();
          expect(await values(source)).toEqual([]);
        }
        await other.query(insert(1));
        await other.query('COMMIT');
        await written;
        expect(seen).toEqual([[{ value: 1 }]]);
        await write(3);
        expect(await values()).toEqual([1, 2, 3]);
      });

      it('a wait is reported as one for another process, and the turn goes on after it', async () => {
        await other.query('BEGIN IMMEDIATE');
        const writes = [store.callerTransaction((manager) => manager.query(insert(1))), write(2)];
        await eventually(async () =>
          expect(store.writeHealth()).toMatchObject({ waitsFor: 'locked' }),
        );
        expect(await store.isStuck(0)).toBe(false);
        await other.query('ROLLBACK');
        await Promise.all(writes);
        expect(store.writeHealth()).toEqual({ waiting: 0, waitsFor: undefined });
        expect(await values()).toEqual([1, 2]);
      });

      it('a statement of the app outside transactions keeps its own time-out', async () => {
        await store.callerTransaction((manager) => manager.query(insert(1)));
        expect(await source.query('PRAGMA busy_timeout')).toEqual([{ timeout: 5_000 }]);
      });
    });

    describe('beside transactions of the same process on the data source', () => {
      it("a caller's transaction waits for one of the app, and neither joins the other", async () => {
        const { until, end } = held();
        const own = source.transaction(async (manager) => {
          await manager.query(insert(1));
          await until;
          throw new Error('undone');
        });
        const written = store.callerTransaction((manager) => manager.query(insert(2)));
        await eventually(async () => expect(store.writeHealth().waitsFor).toBe('transaction_open'));
        end();
        await expect(own).rejects.toThrow('undone');
        await written;
        expect(await values()).toEqual([2]);
      });

      it('transactions that the app begins meanwhile wait, and each commits or fails by itself', async () => {
        const { until, end } = held();
        const begun = held();
        const own = store.callerTransaction(async (manager) => {
          await manager.query(insert(1));
          begun.end();
          await until;
          throw new Error('undone');
        });
        await begun.until;
        const later = [2, 3].map((value) =>
          source.transaction((manager) => manager.query(insert(value))),
        );
        await turn();
        expect(await values(source)).toEqual([1]);
        end();
        await expect(own).rejects.toThrow('undone');
        await Promise.all(later);
        expect(await values()).toEqual([2, 3]);
        await write(4);
      });

      it('a savepoint within the transaction rolls back alone, and one left open is committed with it', async () => {
        let dangling: Promise<unknown> = Promise.resolve();
        const { until, end } = held();
        await store.callerTransaction(async (manager) => {
          await manager
            .transaction(async (inner) => {
              await inner.query(insert(1));
              throw new Error('inner');
            })
            .catch(() => undefined);
          const begun = held();
          dangling = manager.transaction(async (inner) => {
            await inner.query(insert(2));
            begun.end();
            await until;
          });
          await begun.until;
        });
        await write(3);
        expect(await values()).toEqual([2, 3]);
        end();
        await expect(dangling).rejects.toThrow('ransaction');
        await store.callerTransaction((manager) => manager.query(insert(4)));
        expect(await values()).toEqual([2, 3, 4]);
      });

      it('methods of the connection are its own again after each transaction', async () => {
        const runner = source.createQueryRunner();
        const methods = () =>
          (['query', 'startTransaction', 'rollbackTransaction'] as const).map((name): unknown =>
            Reflect.get(runner, name),
          );
        const before = methods();
        for (let n = 0; n < 3; n++)
          await store.callerTransaction((manager) => manager.query(insert(n)));
        expect(methods()).toEqual(before);
        for (const [n, method] of methods().entries()) expect(method).toBe(before[n]);
      });

      it('a wait for a transaction of the app that waits itself ends with the remedy', async () => {
        const lock = new WriteLock(() => true, undefined, 20);
        const turns = new SqliteTurns(() => other.createQueryRunner(), lock);
        await source.transaction(async (manager) => {
          await manager.query(insert(1));
          const waiting = turns.transaction((runner) => runner.query(insert(2)));
          await expect(waiting).rejects.toMatchObject({
            code: 'transaction_required',
            message: expect.stringContaining('pass its manager') as unknown,
          });
        });
        expect(await values()).toEqual([1]);
      });
    });

    describe('after SQLite has rolled back by itself', () => {
      const full = 'PRAGMA max_page_count = 1';
      const FILL = 'INSERT INTO filled (value) VALUES (zeroblob(1000000))';
      afterEach(() => source.query('PRAGMA max_page_count = 1000000'));

      it('no transaction stays open, and its error is that of the full disk', async () => {
        await source.query(full);
        for (let round = 0; round < 3; round++) {
          const filling = store.callerTransaction(async (manager) => {
            await manager.query(insert(round));
            // The caller ignores it; a later statement would commit by itself.
            await manager.query(FILL).catch(() => undefined);
            await manager.query(insert(10 + round)).catch(() => undefined);
          });
          expect(refusalOfWrites(await filling.catch((error: unknown) => error))).toBe('full');
          await expect(
            store.callerTransaction(() => Promise.reject(new Error('of the caller'))),
          ).rejects.toThrow('of the caller');
          expect(source.createQueryRunner().isTransactionActive).toBe(false);
          await write(100 + round);
        }
        await source.query('PRAGMA max_page_count = 1000000');
        await store.callerTransaction((manager) => manager.query(FILL));
        await source.transaction((manager) => manager.query(insert(200)));
        expect(await values()).toEqual([100, 101, 102, 200]);
      });

      it('a transaction of the app that SQLite has rolled back leaves no trace for those after it', async () => {
        await source.query(full);
        await source.transaction((manager) => manager.query(FILL)).catch(() => undefined);
        await expect(
          store.callerTransaction(() => Promise.reject(new Error('of the caller'))),
        ).rejects.toThrow('of the caller');
        await write(1);
        expect(source.createQueryRunner().isTransactionActive).toBe(false);
      });
    });

    describe('a transaction whose work does not end', () => {
      it('is named after 5 s, is stuck after its limit without a statement, and other flows do not hide it', async () => {
        const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
        const { until, end } = held();
        const begun = held();
        const own = store.callerTransaction(async (manager) => {
          await manager.query(insert(1));
          begun.end();
          await until;
        });
        await begun.until;
        const waiting = write(2);
        await eventually(async () => {
          await source.query('SELECT 1');
          expect(await store.isStuck(100)).toBe(true);
          expect(await store.isStuck(60_000)).toBe(false);
          expect(store.writeHealth().waitsFor).toBe('transaction_open');
        });
        await eventually(async () =>
          expect(warned.mock.calls.flat().join()).toMatch(
            /messaging\.transaction\(\) of this process has held SQLite for 5 s/,
          ),
        );
        expect(warned.mock.calls.flat().join()).not.toMatch(/another process/);
        warned.mockRestore();
        end();
        await Promise.all([own, waiting]);
        expect(await store.isStuck(0)).toBe(false);
      });

      it('is not stuck while it runs statements', async () => {
        const begun = held();
        let over = false;
        const own = store.callerTransaction(async (manager) => {
          while (!over) {
            await manager.query('SELECT 1');
            begun.end();
            await turn();
          }
        });
        await begun.until;
        for (let asked = 0; asked < 5; asked++) expect(await store.isStuck(20_000)).toBe(false);
        over = true;
        await own;
      });
    });
  },
  ['sqlite'],
);
