import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { IdempotencyKeyInUseError } from '@dundun/messaging';
import { MESSAGING_MIGRATIONS } from '@dundun/messaging/migrations';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { migrate } from '../../../libs/messaging/src/store/schema/migrator.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, Gate } from './dispatch-fixture.js';
import { intend, LANE } from './intend.js';

const message = (body: string) => ({ from: 'ACME', to: '2348012345678', body });

describeEachDatabase(
  'locks',
  (database) => {
    let fixture: DispatchFixture;
    beforeAll(() => {
      fixture = new DispatchFixture(database);
    });
    afterEach(() => fixture.clear());

    it('the database frees the locks of a frozen process after the lease time', async () => {
      // Longer than a busy machine stands still between two statements.
      const lease = '5s';
      const frozen = await fixture.boot({ dispatch: false, lease });
      const next = await fixture.boot({ dispatch: false, lease });
      await frozen.send('x');
      const { fence } = (await intend(frozen.store)).lease;
      const reached = new Gate();
      const woken = new Gate();
      const lock = 'SELECT fence FROM messaging_lane WHERE lane_key = ? FOR UPDATE';
      const stuck = frozen.store.database
        .transaction(async (tx) => {
          await tx.all(lock, [LANE]);
          reached.open();
          await woken.opened;
          return tx.all(lock, [LANE]);
        })
        .catch((error: unknown) => error);
      await reached.opened;
      await eventually(async () =>
        expect(await next.store.lanes.acquire(LANE)).toMatchObject({ fence: fence + 1 }),
      );
      woken.open();
      expect(await stuck).toBeInstanceOf(Error);
      // Its connection is gone, and the next one serves.
      expect(await frozen.store.lanes.renew(LANE, fence)).toBe(false);
    });

    it('a locked idempotency key delays only its own sends, which fail with IdempotencyKeyInUseError', async () => {
      const { app, sms } = await fixture.boot({ dispatch: false });
      const held = new Gate();
      const end = new Gate();
      const slow = app.get(DataSource).transaction(async (manager) => {
        const receipt = await sms.send(message('once'), { manager, idempotencyKey: 'held' });
        held.open();
        await end.opened;
        return receipt;
      });
      await held.opened;
      const others = Array.from({ length: 20 }, (_, n) =>
        sms.send(message(`other ${n}`), { idempotencyKey: `other-${n}` }),
      );
      const same = Array.from({ length: 3 }, () =>
        sms.send(message('once'), { idempotencyKey: 'held' }),
      );
      for (const result of await Promise.allSettled(same))
        expect(result).toMatchObject({
          status: 'rejected',
          reason: expect.any(IdempotencyKeyInUseError),
        });
      const receipts = await Promise.all(others);
      expect(new Set(receipts.map(({ id }) => id)).size).toBe(20);
      end.open();
      const { id } = await slow;
      expect(await sms.send(message('once'), { idempotencyKey: 'held' })).toMatchObject({
        id,
        replayed: true,
      });
    });

    it('a start waits for a held migration lock, and then names it in its error', async () => {
      await fixture.boot({ dispatch: false });
      const url = await database.another();
      const options = { ...database.options(), url } as DataSourceOptions;
      const other = await new DataSource(options).initialize();
      const source = await new DataSource(options).initialize();
      const migrations = { wanted: MESSAGING_MIGRATIONS, known: MESSAGING_MIGRATIONS };
      const runner = other.createQueryRunner();
      const { take, give } = {
        postgres: {
          take: 'SELECT pg_advisory_lock(741852963)',
          give: 'SELECT pg_advisory_unlock(741852963)',
        },
        mariadb: {
          take: "SELECT GET_LOCK(CONCAT('messaging-741852963-', MD5(LOWER(DATABASE()))), 60)",
          give: "SELECT RELEASE_LOCK(CONCAT('messaging-741852963-', MD5(LOWER(DATABASE()))))",
        },
      }[database.kind as 'postgres' | 'mariadb'];
      await runner.query(take);
      await expect(migrate(source, migrations, true, { timeout: 1_000 })).rejects.toMatchObject({
        name: 'MigrationLockedError',
        code: 'migration_locked',
      });
      const waiting = migrate(source, migrations, true);
      await runner.query(give);
      await waiting;
      await runner.release();
      for (const one of [other, source]) await one.destroy();
    });
  },
  ['postgres', 'mariadb'],
);

describeEachDatabase(
  'a connection of the app’s pool',
  (database) => {
    it("a pooled connection has the app's own limits after the store used it", async () => {
      const fixture = new DispatchFixture(database);
      const { app, store, sms } = await fixture.boot({ dispatch: false, lease: '7s' });
      const source = app.get(DataSource);
      const limits = () =>
        source.query(
          'SELECT @@wait_timeout AS idle, @@innodb_lock_wait_timeout AS locks, @@GLOBAL.wait_timeout AS idle_before, @@GLOBAL.innodb_lock_wait_timeout AS locks_before',
        ) as Promise<Record<string, number>[]>;
      await sms.send(message('keyed'), { idempotencyKey: 'k' });
      await store.database
        .transaction(() => Promise.reject(new Error('rolled back')), 1_000)
        .catch(() => undefined);
      const within = await store.database.transaction(
        (tx) =>
          tx.all<Record<string, number>>(
            'SELECT @@wait_timeout AS idle, @@innodb_lock_wait_timeout AS locks',
          ),
        2_000,
      );
      expect(within.map(({ idle, locks }) => [Number(idle), Number(locks)])).toEqual([[7, 2]]);
      for (const [row] of await Promise.all(Array.from({ length: 20 }, limits)))
        expect([row?.['idle'], row?.['locks']]).toEqual([
          row?.['idle_before'],
          row?.['locks_before'],
        ]);
      await fixture.clear();
    });
  },
  ['mariadb'],
);
