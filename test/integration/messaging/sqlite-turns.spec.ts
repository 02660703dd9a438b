import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DataSource, QueryRunner } from 'typeorm';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { SqliteTurns } from '../../../libs/messaging/src/store/sqlite/turns.js';
import { WalSync } from '../../../libs/messaging/src/store/sqlite/wal-sync.js';
import { WriteLock } from '../../../libs/messaging/src/store/sqlite/write-lock.js';
import { describeEachDatabase } from '../../support/databases.js';

describeEachDatabase(
  'concurrent SQLite transactions',
  (database) => {
    let dataSource: DataSource;
    let runner: QueryRunner;
    let turns: SqliteTurns;
    let synced: Promise<void> | undefined;
    const said: string[] = [];
    const insert = (value: number) => (own: QueryRunner) =>
      own.query('INSERT INTO kept (value) VALUES (?)', [value]);
    const values = async (): Promise<number[]> =>
      (await runner.query('SELECT value FROM kept ORDER BY value')).map(
        (row: { value: number }) => row.value,
      );
    const commits = () => said.filter((sql) => sql === 'COMMIT').length;

    beforeAll(async () => {
      dataSource = await database.open();
      runner = dataSource.createQueryRunner();
      await runner.query('CREATE TABLE kept (value INTEGER PRIMARY KEY)');
      const query = runner.query.bind(runner);
      runner.query = ((sql: string, ...more: []) => {
        said.push(sql);
        return query(sql, ...more);
      }) as typeof runner.query;
    });
    beforeEach(async () => {
      await runner.query('DELETE FROM kept');
      synced = undefined;
      // However slow the machine, a turn takes all that wait.
      turns = new SqliteTurns(
        () => runner,
        new WriteLock(() => false),
        () => synced,
        Number.POSITIVE_INFINITY,
      );
      said.splice(0);
    });

    it('waiting transactions share one commit and resolve after it', async () => {
      let heard = -1;
      const work = [1, 2, 3].map((value) => turns.transaction(insert(value)));
      void work[0]!.then(() => {
        heard = commits();
      });
      await Promise.all(work);
      expect(heard).toBe(1);
      expect(commits()).toBe(1);
      expect(await values()).toEqual([1, 2, 3]);
    });

    it('a transaction resolves after the sync without blocking the next turn', async () => {
      let onDisk = () => {};
      synced = new Promise((resolve) => (onDisk = resolve));
      const heard: number[] = [];
      const first = turns.transaction(insert(1)).then(() => heard.push(1));
      while (commits() < 1) await new Promise((resolve) => setImmediate(resolve));
      synced = Promise.resolve();
      await turns.transaction(insert(2)).then(() => heard.push(2));
      expect(heard).toEqual([2]);
      let idle = false;
      const ending = turns.idle().then(() => (idle = true));
      await new Promise((resolve) => setImmediate(resolve));
      expect([heard, idle]).toEqual([[2], false]);
      onDisk();
      await Promise.all([first, ending]);
      expect(heard).toEqual([2, 1]);
    });

    it('all transactions of a turn fail when the sync fails', async () => {
      synced = Promise.reject(new Error('EIO'));
      const results = await Promise.allSettled([1, 2].map((one) => turns.transaction(insert(one))));
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      synced = undefined;
      await turns.transaction(insert(3));
      expect(await values()).toContain(3);
    });

    it('store transactions wait for the sync of their commit', async () => {
      const store = databaseOf(dataSource);
      await store.open();
      let onDisk = () => {};
      const done = jest
        .spyOn(WalSync.prototype, 'done')
        .mockReturnValue(new Promise((resolve) => (onDisk = resolve)));
      let heard = false;
      const work = store
        .transaction((tx) => tx.run('INSERT INTO kept (value) VALUES (?)', [9]))
        .then(() => (heard = true));
      while ((await values()).length === 0) await new Promise((resolve) => setImmediate(resolve));
      expect(heard).toBe(false);
      onDisk();
      await work;
      done.mockRestore();
      expect(await store.all('PRAGMA synchronous')).toEqual([{ synchronous: 1 }]);
      await store.transaction((tx) => tx.run('DELETE FROM kept WHERE value = 9'));
      await store.close();
    });

    it('a failing transaction is undone alone', async () => {
      const broken = async (own: QueryRunner) => {
        await insert(2)(own);
        throw new Error('broken');
      };
      const results = await Promise.allSettled([
        turns.transaction(insert(1)),
        turns.transaction(broken),
        turns.transaction(insert(1)),
        turns.transaction(insert(3)),
      ]);
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'rejected',
        'fulfilled',
      ]);
      expect(await values()).toEqual([1, 3]);
    });

    it('all transactions of a turn fail when its commit fails and the next turn runs', async () => {
      await runner.query('PRAGMA foreign_keys = ON');
      await runner.query(
        `CREATE TABLE owned (value INTEGER REFERENCES kept (value) DEFERRABLE INITIALLY DEFERRED)`,
      );
      const orphan = (own: QueryRunner) => own.query('INSERT INTO owned (value) VALUES (99)');
      const results = await Promise.allSettled([
        turns.transaction(insert(1)),
        turns.transaction(orphan),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(await values()).toEqual([]);
      await turns.transaction(insert(4));
      expect(await values()).toEqual([4]);
    });

    describe('a transaction that SQLite rolls back by itself', () => {
      const fill = async (own: QueryRunner) => {
        await own.query('PRAGMA max_page_count = 1');
        await own.query('INSERT INTO filled (value) VALUES (zeroblob(1000000))');
      };
      /** The listener ignores the error; a later statement would be a transaction by itself. */
      const swallowing = async (own: QueryRunner) => {
        await insert(2)(own);
        await fill(own).catch(() => undefined);
        await insert(3)(own).catch(() => undefined);
      };

      beforeEach(() => runner.query('CREATE TABLE IF NOT EXISTS filled (value BLOB)'));
      afterEach(() => runner.query('PRAGMA max_page_count = 1000000'));

      it('a transaction rolled back by SQLite fails and leaves no row', async () => {
        await expect(turns.transaction(swallowing)).rejects.toThrow('rolled back');
        expect(await values()).toEqual([]);
      });

      it('a transaction rolled back by SQLite fails alone and the others run again', async () => {
        const results = await Promise.allSettled([
          turns.transaction(insert(1)),
          turns.transaction(swallowing),
        ]);
        expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
        await turns.transaction(insert(5));
        expect(await values()).toEqual([1, 5]);
      });

      it('a transaction rolled back by SQLite fails with the original error', async () => {
        const results = await Promise.allSettled([
          turns.transaction(insert(1)),
          turns.transaction(fill),
        ]);
        expect(results).toMatchObject([
          { status: 'fulfilled' },
          { status: 'rejected', reason: { message: expect.stringContaining('full') as unknown } },
        ]);
        expect(await values()).toEqual([1]);
      });
    });

    it('a transaction that arrives during another, or after a failed one, runs', async () => {
      const later: Promise<unknown>[] = [];
      const failing = turns.transaction(async (own) => {
        later.push(turns.transaction(insert(6)));
        await insert(5)(own);
        throw new Error('broken');
      });
      await expect(failing).rejects.toThrow('broken');
      await Promise.all(later);
      expect(await values()).toEqual([6]);
      await turns.idle();
    });

    it("store transactions wait for a caller's exclusive turn", async () => {
      const order: string[] = [];
      let over = () => {};
      const held = new Promise<void>((resolve) => (over = resolve));
      const own = turns.exclusively(async () => {
        await held;
        order.push('own');
      });
      const shared = [7, 8].map((value) =>
        turns.transaction(async (mine) => {
          order.push(String(value));
          await insert(value)(mine);
        }),
      );
      over();
      await Promise.all([own, ...shared]);
      expect(order).toEqual(['own', '7', '8']);
    });

    it.each([
      ['alternate with turns of the store while both wait', 0, ['A', '1', 'B', '2', 'C', '3', '4']],
      ['follow each other for a bounded time', 1_000, ['A', 'B', 'C', '1', '2', '3', '4']],
    ])('exclusive turns %s', async (_, longTurn, expected) => {
      const short = new SqliteTurns(
        () => runner,
        new WriteLock(() => false),
        () => undefined,
        longTurn,
      );
      const order: string[] = [];
      let over = () => {};
      const held = new Promise<void>((resolve) => (over = resolve));
      const exclusive = ['A', 'B', 'C'].map((name) =>
        short.exclusively(async () => {
          if (name === 'A') await held;
          order.push(name);
        }),
      );
      const shared = [1, 2, 3, 4].map((value) =>
        short.transaction(async (mine) => {
          order.push(String(value));
          await insert(value)(mine);
        }),
      );
      over();
      await Promise.all([...exclusive, ...shared]);
      expect(order).toEqual(expected);
    });
  },
  ['sqlite'],
);
