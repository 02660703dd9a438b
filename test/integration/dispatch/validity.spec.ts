import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { UncertainFailure } from '@dundun/messaging/ports';
import { DataSource } from 'typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, ForwardClock, ScriptedTransport } from './dispatch-fixture.js';
import { intend, LANE } from './intend.js';

const HOUR = 3_600_000;

describeOneDatabase('a message whose time is over', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it.each([
    ['honoured', HOUR],
    ['not honoured', 0],
  ])(
    'an expired message that may have left before a crash becomes unknown (keys %s)',
    async (_, idempotencyWindow) => {
      const crashed = await fixture.boot({ dispatch: false });
      const id = await crashed.send('late', { validFor: '1h' });
      const { lease } = await intend(crashed.store);
      await crashed.store.lanes.release(LANE, lease.fence, null, true);
      await crashed.app.get(DataSource).query('UPDATE messaging_batch SET valid_until = 1');
      const transport = new ScriptedTransport({ maxRecipients: 100, idempotencyWindow });
      const { sms } = await fixture.boot({}, transport);
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ unknown: 1 }));
      expect(transport.started).toEqual([]);
    },
  );

  it('a message that expires while its answer is pending becomes unknown', async () => {
    const clock = new ForwardClock();
    const transport = new ScriptedTransport({ maxRecipients: 100, idempotencyWindow: 20 * HOUR });
    const { send, sms } = await fixture.boot({}, transport, undefined, [], clock);
    transport.script = () => {
      clock.ahead = 2 * HOUR;
      throw new UncertainFailure('timeout', 'x', 1);
    };
    const id = await send('late', { validFor: '1h' });
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ unknown: 1 }));
    expect(transport.started).toHaveLength(1);
    const { data } = await sms.messages(id);
    expect(data[0]?.errorCode).toBe('validity_over');
  });

  it('a message that expires while it waits for its resend after a crash becomes unknown', async () => {
    const crashed = await fixture.boot({ dispatch: false });
    await crashed.send('in time');
    const late = await crashed.send('late', { validFor: '1h' });
    const { lease } = await intend(crashed.store);
    await crashed.store.lanes.release(LANE, lease.fence, null, true);
    const clock = new ForwardClock();
    const transport = new ScriptedTransport({ maxRecipients: 100, idempotencyWindow: 20 * HOUR });
    const rateLimit = { max: 1, per: '1h' } as const;
    const { send, sms } = await fixture.boot({ rateLimit }, transport, undefined, [], clock);
    // Both are taken over together, and the second waits for the rate.
    await eventually(async () => expect(transport.texts).toEqual(['in time']));
    clock.ahead = 2 * HOUR;
    // Timers read the changed clock.
    await send('after');
    await eventually(async () => expect((await sms.batch(late)).counts).toEqual({ unknown: 1 }));
    await eventually(async () => expect(transport.texts).toEqual(['in time', 'after']));
    const { data } = await sms.messages(late);
    expect(data[0]?.errorCode).toBe('validity_over');
  });

  it('a message that expires in the queue is expired and not sent', async () => {
    const clock = new ForwardClock();
    const rateLimit = { max: 1, per: '1h' } as const;
    const { send, sms, transport } = await fixture.boot(
      { rateLimit },
      undefined,
      undefined,
      [],
      clock,
    );
    const first = await send('in time');
    const late = await send('late', { validFor: '1h' });
    await eventually(async () => expect((await sms.batch(first)).counts).toEqual({ sent: 1 }));
    // Written down, and waiting for the rate.
    await eventually(async () => expect((await sms.batch(late)).counts).toEqual({ sending: 1 }));
    clock.ahead = 2 * HOUR;
    // Timers read the changed clock.
    await send('after');
    await eventually(async () => expect((await sms.batch(late)).counts).toEqual({ expired: 1 }));
    await eventually(async () => expect(transport.texts).toEqual(['in time', 'after']));
  });
});
