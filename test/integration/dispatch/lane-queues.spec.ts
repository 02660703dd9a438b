import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeOneDatabase } from '../../support/databases.js';
import { type DispatchApp, DispatchFixture } from './dispatch-fixture.js';

const HOUR = 3_600_000;
const PAUSE = { provider: 'main', reason: 'unauthorized: x' };

describeOneDatabase('lanes with work', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  const due = async ({ store }: DispatchApp, horizon = 0) =>
    (await store.queues.due(horizon)).map(({ lane }) => lane).sort();

  it('each lane with due work is found once for each priority', async () => {
    const app = await fixture.boot({ dispatch: false });
    for (const tenant of ['b', 'a', 'ab'])
      for (let n = 0; n < 5; n++) await app.send('x', { tenant });
    await app.send('x', { tenant: 'c', class: 'high' });
    await app.sms.send(
      { from: 'ACME', to: '2348012345678', body: 'x', sendAt: new Date(Date.now() + HOUR) },
      { tenant: 'later' },
    );
    expect(await due(app)).toEqual(['a:sms', 'ab:sms', 'b:sms', 'c:sms']);
    expect(await due(app, 2 * HOUR)).toEqual(['a:sms', 'ab:sms', 'b:sms', 'c:sms', 'later:sms']);
    expect((await app.messaging.lanes()).map(({ lane }) => lane)).toEqual(
      ['a', 'ab', 'b', 'c'].map((tenant) => `${tenant}:sms`),
    );
  });

  it('lanes are not due while another process holds them or while they are paused', async () => {
    const app = await fixture.boot({ dispatch: false });
    for (const tenant of ['held', 'paused', 'free']) await app.send('x', { tenant });
    await app.store.lanes.acquire('held:sms');
    const paused = await app.store.lanes.acquire('paused:sms');
    await app.store.lanes.pause(paused!, HOUR, PAUSE);
    await app.store.lanes.release('paused:sms', paused!.fence, null, false);
    expect(await due(app)).toEqual(['free:sms']);
    expect(await app.messaging.lanes()).toMatchObject([
      { lane: 'free:sms', leased: false, pauseReason: null },
      { lane: 'held:sms', leased: true, pauseReason: null },
      { lane: 'paused:sms', leased: true, pauseProvider: 'main', pauseReason: 'unauthorized' },
    ]);
  });

  it('a pause that is over is shown only while the lane has due work', async () => {
    const app = await fixture.boot({ dispatch: false });
    for (const lane of ['idle:sms', 'waiting:sms']) {
      const lease = await app.store.lanes.acquire(lane);
      await app.store.lanes.pause(lease!, 0, PAUSE);
      await app.store.lanes.release(lane, lease!.fence, null, false);
    }
    await app.send('x', { tenant: 'waiting' });
    expect(await app.messaging.lanes()).toMatchObject([
      { lane: 'waiting:sms', pauseReason: 'unauthorized' },
    ]);
  });

  it('no lane is due without waiting messages', async () => {
    const app = await fixture.boot({ dispatch: false });
    expect(await due(app, HOUR)).toEqual([]);
    expect(await app.messaging.lanes()).toEqual([]);
    expect(await app.messaging.queueAges()).toEqual({ high: 0, normal: 0 });
  });
});
