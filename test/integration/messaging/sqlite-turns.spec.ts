import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { DataSource, QueryRunner } from 'typeorm';
import { SqliteTurns } from '../../../libs/messaging/src/ledger/sqlite-turns.js';
import { describeEachDatabase } from '../../support/databases.js';

describeEachDatabase(
  'transactions that wait for a turn',
  (database) => {
    let dataSource: DataSource;
    let runner: QueryRunner;
    let turns: SqliteTurns;
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
      // However slow the machine, a turn takes all that wait.
      turns = new SqliteTurns(() => runner, Number.POSITIVE_INFINITY);
      said.splice(0);
    });

    it('share one commit, and each hears of it after it', async () => {
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

    it('stand or fall alone: what one did is undone, and the others stay', async () => {
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

    it('all fail where the commit does, none hears otherwise, and the next ones have their turn', async () => {
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

    it('one that comes while another is under way, or after one that failed, is not forgotten', async () => {
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

    it('wait for a turn that is somebody’s own, and go on after it', async () => {
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
  },
  ['sqlite'],
);
