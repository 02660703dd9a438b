import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { slice } from '../../../libs/messaging/src/dispatch/slice.js';
import { LaneLostError } from '../../../libs/messaging/src/store/verbs/intents.js';
import type { Lease } from '../../../libs/messaging/src/store/rows/lease.js';
import type { PlannedBatch } from '../../../libs/messaging/src/store/rows/planned-batch.js';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, relayedFixture } from './dispatch-fixture.js';
import { everythingTo, TRANSPORT } from './intend.js';
import {
  HandEngine,
  intendAll,
  intendOne,
  laneOf,
  lockRow,
  ODD,
  OTHERS,
  statuses,
  takeAll,
  TENANTS,
} from './lanes-together.js';

function describeTogether(database: TestDatabase): void {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('a lost lane in a shared statement fails alone: none of its intents is stored, and all other intents are', async () => {
    const app = await fixture.boot({ dispatch: false });
    const next = await fixture.boot({ dispatch: false });
    const leases = await takeAll(app);
    await app.store.lanes.release(laneOf(ODD), (leases.get(ODD) as Lease).fence, null, true);
    expect(await next.store.lanes.acquire(laneOf(ODD))).toBeDefined();
    const results = await intendAll(app.store, leases);
    expect(results.get(ODD)).toMatchObject({
      status: 'rejected',
      reason: expect.any(LaneLostError),
    });
    for (const tenant of OTHERS) expect(results.get(tenant)?.status).toBe('fulfilled');
    expect(await statuses(app)).toEqual({
      ...Object.fromEntries(OTHERS.map((tenant) => [tenant, 1])),
      [ODD]: 0,
    });
  });

  it('a lane whose intents the database refuses fails alone', async () => {
    const app = await fixture.boot({ dispatch: false });
    const leases = await takeAll(app);
    // Another process has inserted the same submission.
    await app.app.get(DataSource).query(
      `INSERT INTO messaging_submission (batch, n, first_position, last_position, attempt, fence, provider, first_sent_at)
       SELECT id, 0, 0, 0, 1, 1, 'other', 0 FROM messaging_batch WHERE tenant = '${ODD}'`,
    );
    const results = await intendAll(app.store, leases);
    expect(results.get(ODD)?.status).toBe('rejected');
    for (const tenant of OTHERS) expect(results.get(tenant)?.status).toBe('fulfilled');
    expect((await statuses(app))[ODD]).toBe(0);
  });

  it('a lane whose batch was cancelled meanwhile starts no message, and the other lanes do', async () => {
    const app = await fixture.boot({ dispatch: false });
    const leases = await takeAll(app);
    const planned = await Promise.all(
      TENANTS.map((tenant) => app.store.work.plan(laneOf(tenant), 10)),
    );
    const odd = planned[TENANTS.indexOf(ODD)]?.[0]?.id as string;
    await app.sms.cancel(odd, { tenant: ODD });
    const limits = {
      ...everythingTo(TRANSPORT),
      now: 0,
      wallNow: Date.now(),
      most: Infinity,
    };
    const live = await Promise.all(
      TENANTS.map((tenant, n) => {
        const { lane, fence } = leases.get(tenant) as Lease;
        const intent = slice(planned[n] ?? [], () => undefined, limits);
        return app.store.intents.record({ lane, fence, ...intent });
      }),
    );
    expect(live.map(({ size }) => size)).toEqual(TENANTS.map((t) => (t === ODD ? 0 : 1)));
    expect((await statuses(app))[ODD]).toBe(0);
  });

  it('two processes that drain the same lanes share them, and neither waits for the other', async () => {
    const [one, two] = [
      await fixture.boot({ dispatch: false }),
      await fixture.boot({ dispatch: false }),
    ];
    for (let round = 0; round < 10; round++) {
      const order = round % 2 === 0 ? TENANTS : TENANTS.toReversed();
      const [first, second] = await Promise.all([
        Promise.all(TENANTS.map((tenant) => one.store.lanes.acquire(laneOf(tenant)))),
        Promise.all(order.map((tenant) => two.store.lanes.acquire(laneOf(tenant)))),
      ]);
      const lanes = [...first, ...second].flatMap((lease) => (lease ? [lease.lane] : []));
      expect(lanes.toSorted()).toEqual(TENANTS.map(laneOf));
      await Promise.all([
        ...first.map(
          (lease) => lease && one.store.lanes.release(lease.lane, lease.fence, null, false),
        ),
        ...second.map(
          (lease) => lease && two.store.lanes.release(lease.lane, lease.fence, null, false),
        ),
      ]);
    }
  });

  it('messages keep the order of their lane and are sent once, however many lanes drain together', async () => {
    const { send } = await fixture.boot({ dispatch: false });
    for (const n of [1, 2, 3, 4, 5])
      await Promise.all(TENANTS.map((tenant) => send(`${tenant} ${n}`, { tenant })));
    const { transport } = await fixture.boot({ concurrency: 2 });
    await eventually(async () => expect(transport.accepted).toHaveLength(5 * TENANTS.length));
    for (const tenant of TENANTS)
      expect(transport.texts.filter((text) => text.startsWith(tenant))).toEqual(
        [1, 2, 3, 4, 5].map((n) => `${tenant} ${n}`),
      );
  });
}

describeEachDatabase('many lanes in one statement', describeTogether);

describeEachDatabase(
  'a lane whose row another transaction has locked',
  (database) => {
    let fixture: DispatchFixture;
    beforeAll(() => {
      fixture = new DispatchFixture(database);
    });
    afterEach(() => fixture.clear());

    it('a lane whose row is locked delays no other lane', async () => {
      const app = await fixture.boot({ dispatch: false });
      for (const lease of (await takeAll(app)).values())
        await app.store.lanes.release(lease.lane, lease.fence, null, false);
      const unlock = await lockRow(
        app,
        `SELECT 1 FROM messaging_lane WHERE lane_key = '${laneOf(ODD)}' FOR UPDATE`,
      );
      let waited = false;
      const waiting = app.store.lanes.acquire(laneOf(ODD)).then((lease) => {
        waited = true;
        return lease;
      });
      const leases = await Promise.all(
        OTHERS.map((tenant) => app.store.lanes.acquire(laneOf(tenant))),
      );
      expect(leases.every(Boolean)).toBe(true);
      expect(waited).toBe(false);
      await unlock();
      expect(await waiting).toMatchObject({ lane: laneOf(ODD), clean: true });
    });

    it('a locked row holds back the whole slice of its lane, and no other lane', async () => {
      const app = await fixture.boot({ dispatch: false });
      const leases = await takeAll(app);
      const [{ id: first }] = (await app.store.work.plan(laneOf(ODD), 1)) as [PlannedBatch];
      await app.send('second', { tenant: ODD });
      const unlock = await lockRow(
        app,
        `SELECT 1 FROM messaging_batch WHERE id = '${first}' FOR UPDATE`,
      );
      const waiting = intendOne(app.store, leases.get(ODD) as Lease);
      await Promise.all(OTHERS.map((tenant) => intendOne(app.store, leases.get(tenant) as Lease)));
      expect(await statuses(app)).toEqual({
        ...Object.fromEntries(OTHERS.map((tenant) => [tenant, 1])),
        [ODD]: 0,
      });
      await unlock();
      expect((await waiting).size).toBe(2);
    });
  },
  ['postgres', 'mariadb'],
);

describeEachDatabase(
  'the intents of many lanes whose commit is answered by a broken connection',
  (database) => {
    const used = relayedFixture(database);

    it('messages whose shared intent commit lost its answer are sent once', async () => {
      const engine = new HandEngine();
      const app = await used.fixture.boot({}, undefined, engine);
      await Promise.all(TENANTS.map((tenant) => app.send(`${tenant} x`, { tenant })));
      used.relayed.loseCommit('INSERT INTO messaging_submission');
      expect((await engine.drainAll()).filter(({ status }) => status === 'rejected')).not.toEqual(
        [],
      );
      expect(used.relayed.relay.isLosing).toBe(false);
      expect(app.transport.started.length).toBeLessThan(TENANTS.length);
      for (const { status } of await engine.drainAll()) expect(status).toBe('fulfilled');
      await eventually(async () =>
        expect(app.transport.texts.toSorted()).toEqual(TENANTS.map((tenant) => `${tenant} x`)),
      );
    });
  },
  ['postgres', 'mariadb'],
);
