import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { LaneLostError } from '../../../libs/messaging/src/store/intents.js';
import { describeEachDatabase } from '../../support/databases.js';
import { type DispatchApp, DispatchFixture } from './dispatch-fixture.js';
import { intend, LANE } from './intend.js';

const TO = '2348012345678';

describeEachDatabase('what is about to start', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  const rowsOf = async ({ app }: DispatchApp, id: string) =>
    (
      (await app.get(DataSource).query(
        `SELECT b.state, b.parked_until, s.n, s.first_position, s.last_position,
           s.attempt AS try, s.provider, s.first_sent_at - b.available_at >= 0 AS timely, s.content, s.outcome,
           s.reference, m.position, m.submission, m.status, m.attempt, m.sequence, m.recipient, m.due_at, m.error_code
         FROM messaging_batch b JOIN messaging_submission s ON s.batch = b.id
         JOIN messaging_message m ON m.batch = b.id WHERE b.id = '${id}'`,
      )) as Record<string, unknown>[]
    ).map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, String(v)])));

  it('leaves the same rows whether or not every message is alone in its batch', async () => {
    const app = await fixture.boot({ dispatch: false });
    const alone = [await app.send('first'), await app.send('second')];
    const { heads, lease } = await intend(app.store);
    expect(heads.map(({ batch }) => batch)).toEqual(alone);
    await app.store.lanes.release(lease.lane, lease.fence, null, true);
    const beside = await app.send('beside');
    await app.sms.send({ from: 'ACME', to: [TO, '2348012345679'], body: 'two' });
    expect((await intend(app.store)).heads).toHaveLength(2);
    const [first, second, third] = await Promise.all(
      [...alone, beside].map((id) => rowsOf(app, id)),
    );
    expect(first).toHaveLength(1);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });

  it('is nothing of a batch that was put off after it was planned', async () => {
    const app = await fixture.boot({ dispatch: false });
    const [kept, later] = [await app.send('kept'), await app.send('later')];
    const { heads, live } = await intend(app.store, () =>
      app.sms.reschedule(later, new Date(Date.now() + 3_600_000)),
    );
    expect(heads.map(({ batch }) => batch)).toEqual([kept, later]);
    expect([...live]).toEqual([kept]);
    expect(await rowsOf(app, kept)).toHaveLength(1);
    expect(await rowsOf(app, later)).toEqual([]);
    expect((await app.sms.batch(later)).status).toBe('scheduled');
  });

  it('is nothing of a lane that somebody else has taken', async () => {
    const app = await fixture.boot({ dispatch: false });
    const id = await app.send('ours no more');
    const lost = intend(app.store, () =>
      app.app
        .get(DataSource)
        .query(`UPDATE messaging_lane SET fence = fence + 1 WHERE lane_key = '${LANE}'`),
    );
    await expect(lost).rejects.toThrow(LaneLostError);
    expect(await rowsOf(app, id)).toEqual([]);
    expect((await app.sms.batch(id)).counts).toEqual({ queued: 1 });
  });
});
