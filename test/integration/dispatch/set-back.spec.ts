import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { slice } from '../../../libs/messaging/src/dispatch/submissions.js';
import { completeJob } from '../../../libs/messaging/src/jobs/complete.job.js';
import type { Lease } from '../../../libs/messaging/src/store/lane-leases.js';
import type { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeEachDatabase } from '../../support/databases.js';
import { type DispatchApp, DispatchFixture } from './dispatch-fixture.js';
import { intend, LANE, TRANSPORT } from './intend.js';

describeEachDatabase('a message set back', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  const delivered = (store: MessageStore, batch: string) =>
    store.reports.record(
      [
        {
          submissionId: `${batch}-s0`,
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

  /** Starts the queued messages, refuses them and releases the lane. */
  const refused = async ({ store }: DispatchApp) => {
    const { lease, heads } = await intend(store);
    await Promise.all(heads.map((head) => store.outcomes.record({ ...head, result: 'refused' })));
    await store.lanes.release(LANE, lease.fence, null, false);
  };

  it('and reported delivered after all is not sent again, and its batch is complete', async () => {
    const app = await fixture.boot({ dispatch: false });
    const batch = await app.send('x');
    await refused(app);
    expect((await app.sms.batch(batch)).counts).toEqual({ queued: 1 });
    await delivered(app.store, batch);
    const { heads } = await intend(app.store);
    expect(heads).toEqual([]);
    expect(await app.sms.batch(batch)).toMatchObject({
      status: 'completed',
      counts: { delivered: 1 },
    });
    expect(await app.store.work.plan(LANE, 10)).toEqual([]);
  });

  it('and reported delivered once it was planned does not start; what was planned with it does', async () => {
    const app = await fixture.boot({ dispatch: false });
    const { store, sms } = app;
    const [reported, other] = [await app.send('reported'), await app.send('other')];
    await refused(app);
    const { fence } = (await store.lanes.acquire(LANE)) as Lease;
    const planned = await store.work.plan(LANE, 10);
    expect(planned).toHaveLength(2);
    await delivered(store, reported);
    const limits = {
      provider: TRANSPORT,
      share: (n: number) => n,
      now: 0,
      wallNow: Date.now(),
      most: Infinity,
    };
    const { intent } = slice(planned, () => undefined, limits);
    const live = await store.intents.record({
      lane: LANE,
      fence,
      ...intent,
    });
    expect([...live]).toEqual([other]);
    expect((await sms.batch(other)).counts).toEqual({ sending: 1 });
    await store.lanes.release(LANE, fence, null, false);
    await intend(store);
    expect(await sms.batch(reported)).toMatchObject({
      status: 'completed',
      counts: { delivered: 1 },
    });
  });

  it('that left its batch `sending` with nothing to do, in a former version, is found', async () => {
    const app = await fixture.boot({ dispatch: false });
    const [stuck, open] = [await app.send('stuck'), await app.send('open')];
    const { heads } = await intend(app.store);
    await app.store.outcomes.record({ ...heads[0]!, result: 'accepted', reference: 'r' });
    await app.app
      .get(DataSource)
      .query(`UPDATE messaging_batch SET state = 4, poll_at = NULL WHERE id = '${stuck}'`);
    const job = completeJob(app.store);
    await job.run(new AbortController().signal);
    expect(await app.sms.batch(stuck)).toMatchObject({ status: 'completed', counts: { sent: 1 } });
    expect((await app.sms.batch(open)).status).toBe('sending');
    expect(
      await app.app
        .get(DataSource)
        .query(`SELECT id FROM messaging_batch WHERE id = '${stuck}' AND poll_at IS NOT NULL`),
    ).toHaveLength(1);
  });
});
