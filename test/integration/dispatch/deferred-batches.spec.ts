import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeOneDatabase } from '../../support/databases.js';
import { type DispatchApp, DispatchFixture } from './dispatch-fixture.js';
import { LANE } from './intend.js';

const HOUR = 3_600_000;

describeOneDatabase('deferred batches', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  /** @param back when it comes back, milliseconds from now */
  const defer = (app: DispatchApp, id: string, back: number) =>
    app.store.database.transaction((tx) =>
      tx.run('UPDATE messaging_batch SET parked_until = ? WHERE id = ?', [
        Math.round((Date.now() + back) * 1_000),
        id,
      ]),
    );
  const planned = async (app: DispatchApp, limit = 100) =>
    (await app.store.work.plan(LANE, limit)).map(({ content }) =>
      content.kind === 'text' ? content.text : '',
    );

  it('deferred batches are skipped until they are due and keep their order', async () => {
    const app = await fixture.boot({ dispatch: false });
    const ids: string[] = [];
    for (const text of ['1', '2', '3', '4']) ids.push(await app.send(text));
    const urgent = await app.send('0', { class: 'high' });
    await defer(app, urgent, -1_000);
    await defer(app, ids[1]!, -HOUR);
    await defer(app, ids[2]!, HOUR);
    expect(await planned(app)).toEqual(['0', '1', '2', '4']);
    await defer(app, ids[2]!, -1_000);
    expect(await planned(app)).toEqual(['0', '1', '2', '3', '4']);
  });

  it("deferred batches above a slice's size return in order", async () => {
    const app = await fixture.boot({ dispatch: false });
    const ids: string[] = [];
    for (const text of ['1', '2', '3', '4']) ids.push(await app.send(text));
    for (const [place, id] of ids.entries()) await defer(app, id, place === 3 ? -HOUR : -1_000);
    expect(await planned(app, 2)).toEqual(['1', '4']);
    for (const id of [ids[0]!, ids[3]!]) await app.sms.cancel(id);
    expect(await planned(app, 2)).toEqual(['2', '3']);
  });

  it("the lane's next due time includes deferred batches", async () => {
    const app = await fixture.boot({ dispatch: false });
    const within = async (hours: number) => {
      const due = (await app.store.work.nextDue(LANE)) ?? Infinity;
      return due > (hours - 0.5) * HOUR && due < (hours + 0.5) * HOUR;
    };
    expect(await app.store.work.nextDue(LANE)).toBeUndefined();
    await defer(app, await app.send('x'), 3 * HOUR);
    expect(await within(3)).toBe(true);
    await defer(app, await app.send('y', { class: 'high' }), 2 * HOUR);
    expect(await within(2)).toBe(true);
    const sendAt = new Date(Date.now() + HOUR);
    const { id } = await app.sms.send({ from: 'ACME', to: '2348012345678', body: 'z', sendAt });
    expect(await within(1)).toBe(true);
    await app.sms.cancel(id);
    expect(await within(2)).toBe(true);
    await app.send('now');
    expect(await within(0)).toBe(true);
  });

  it('a lane with deferred batches only is not due before they are', async () => {
    const app = await fixture.boot({ dispatch: false });
    const id = await app.send('x');
    await defer(app, id, HOUR);
    expect(await app.store.queues.due(1_000)).toEqual([]);
    expect(await app.messaging.lanes()).toEqual([]);
    expect(await app.messaging.queueAges()).toEqual({ high: 0, normal: 0 });
    expect(await app.store.queues.due(2 * HOUR)).toMatchObject([{ lane: LANE }]);
    await defer(app, id, -1_000);
    expect(await app.store.queues.due(1_000)).toMatchObject([{ lane: LANE }]);
    expect(await app.messaging.lanes()).toMatchObject([{ lane: LANE, leased: false }]);
    expect((await app.messaging.queueAges()).normal).toBeGreaterThan(0);
  });
});
