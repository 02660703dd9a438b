import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { slice } from '../../../libs/messaging/src/dispatch/slice.js';
import { LaneLostError } from '../../../libs/messaging/src/store/verbs/intents.js';
import type { Lease } from '../../../libs/messaging/src/store/rows/lease.js';
import { describeEachDatabase } from '../../support/databases.js';
import { DispatchFixture } from './dispatch-fixture.js';
import { everythingTo, intend, LANE, TRANSPORT } from './intend.js';

const WITHDRAWN = { result: 'withdrawn', attempts: 0, deferBatchFor: 0 } as const;

const REFUSED = {
  result: 'refused',
  errorCode: 'busy',
  countedFailures: 0,
  exhausted: false,
  deferFor: 0,
  deferred: false,
} as const;

describeEachDatabase('a submission during the takeover of its lane', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('the new holder does not resend a submission that the old holder has just set back to queued', async () => {
    const { store, send } = await fixture.boot({ dispatch: false });
    const batch = await send('x');
    const { lease, heads } = await intend(store);
    await store.lanes.release(LANE, lease.fence, null, true);
    const next = (await store.lanes.acquire(LANE)) as Lease;
    expect(await store.work.unanswered(LANE)).toHaveLength(1);
    await Promise.all(heads.map((head) => store.outcomes.record({ ...head, ...WITHDRAWN })));
    expect(await store.intents.resume(LANE, next.fence, heads)).toEqual(new Set());
    expect(await store.work.plan(LANE, 10)).toMatchObject([{ id: batch }]);
  });

  it('the old holder cannot set back a submission that the new holder has taken over', async () => {
    const { store, send, sms } = await fixture.boot({ dispatch: false });
    const batch = await send('x');
    const { lease, heads } = await intend(store);
    await store.lanes.release(LANE, lease.fence, null, true);
    const next = (await store.lanes.acquire(LANE)) as Lease;
    expect(await store.intents.resume(LANE, next.fence, heads)).toEqual(
      new Set([`${batch}-s${heads[0]?.n}`]),
    );
    await Promise.all(heads.map((head) => store.outcomes.record({ ...head, ...WITHDRAWN })));
    expect((await sms.batch(batch)).counts).toEqual({ sending: 1 });
    expect(await store.work.plan(LANE, 10)).toEqual([]);
  });

  it('an intent under an old fence is refused', async () => {
    const { store, send, sms } = await fixture.boot({ dispatch: false });
    const batch = await send('x');
    const lease = (await store.lanes.acquire(LANE)) as Lease;
    const planned = await store.work.plan(LANE, 10);
    await store.lanes.release(LANE, lease.fence, null, true);
    await store.lanes.acquire(LANE);
    const limits = {
      ...everythingTo(TRANSPORT),
      now: 0,
      wallNow: 0,
      most: Infinity,
    };
    const intent = slice(planned, () => undefined, limits);
    await expect(
      store.intents.record({ lane: LANE, fence: lease.fence, ...intent }),
    ).rejects.toBeInstanceOf(LaneLostError);
    expect((await sms.batch(batch)).counts).toEqual({ queued: 1 });
  });

  it('a lane granted twice after a lost answer treats its rate window as unknown', async () => {
    const { store } = await fixture.boot({ dispatch: false });
    const other = await fixture.boot({ dispatch: false });
    const before = (await other.store.lanes.acquire(LANE)) as Lease;
    await other.store.lanes.release(LANE, before.fence, '[[0,1]]', false);
    const lost = (await store.lanes.acquire(LANE)) as Lease;
    expect(lost).toMatchObject({ clean: true, rateState: '[[0,1]]' });
    expect(await other.store.lanes.acquire(LANE)).toBeUndefined();
    expect(await store.lanes.acquire(LANE)).toMatchObject({
      fence: lost.fence + 1,
      clean: false,
      ours: true,
      idleFor: 0,
      rateState: null,
    });
    expect(await store.lanes.renew(LANE, lost.fence)).toBe(false);
  });

  it('an intent is refused when the database lost the lease and granted the same fence to another owner', async () => {
    const { store, send, sms, app } = await fixture.boot({ dispatch: false });
    const other = await fixture.boot({ dispatch: false });
    const batch = await send('x');
    const lease = (await store.lanes.acquire(LANE)) as Lease;
    await app
      .get(DataSource)
      .query(`UPDATE messaging_lane SET owner = NULL, fence = fence - 1, lease_until = 0`);
    expect(await other.store.lanes.acquire(LANE)).toMatchObject({ fence: lease.fence });
    const planned = await store.work.plan(LANE, 10);
    const limits = {
      ...everythingTo(TRANSPORT),
      now: 0,
      wallNow: 0,
      most: Infinity,
    };
    const intent = slice(planned, () => undefined, limits);
    await expect(
      store.intents.record({ lane: LANE, fence: lease.fence, ...intent }),
    ).rejects.toBeInstanceOf(LaneLostError);
    await store.lanes.release(LANE, lease.fence, null, false);
    expect(await other.store.lanes.renew(LANE, lease.fence)).toBe(true);
    expect((await sms.batch(batch)).counts).toEqual({ queued: 1 });
  });

  it("a holder whose lease the database lost does not count the next holder's starts as its own", async () => {
    const { store, app } = await fixture.boot({ dispatch: false });
    const other = await fixture.boot({ dispatch: false });
    const once = async ({ lanes }: typeof store, state: string) => {
      const lease = (await lanes.acquire(LANE)) as Lease;
      await lanes.release(LANE, lease.fence, state, false);
      return lease;
    };
    await once(store, '[[5,1]]');
    const own = await once(store, '[[5,2]]');
    expect(own).toMatchObject({ ours: true, rateState: '[[5,1]]' });
    await app.get(DataSource).query(`UPDATE messaging_lane SET fence = fence - 1`);
    expect(await once(other.store, '[[7,3]]')).toMatchObject({ fence: own.fence, ours: false });
    expect(await once(store, '[]')).toMatchObject({
      fence: own.fence + 1,
      ours: false,
      rateState: '[[7,3]]',
    });
  });

  it('a refused message that was reported delivered is not sent again', async () => {
    const { store, send, sms } = await fixture.boot({ dispatch: false });
    const [refused, delivered] = [await send('refused'), await send('delivered')];
    const { heads } = await intend(store);
    await store.reports.record(
      [
        {
          submissionId: `${delivered}-s0`,
          reference: null,
          messageId: null,
          recipient: '2348012345678',
          status: 'delivered',
          rawStatus: 'delivered',
          errorCode: null,
          providerTime: null,
        },
      ],
      { provider: TRANSPORT },
    );
    await Promise.all(heads.map((head) => store.outcomes.record({ ...head, ...REFUSED })));
    expect((await store.work.plan(LANE, 10)).map(({ id }) => id)).toEqual([refused]);
    expect(await sms.batch(delivered)).toMatchObject({
      status: 'completed',
      counts: { delivered: 1 },
    });
  });
});
