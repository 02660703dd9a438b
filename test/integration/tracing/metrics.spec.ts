import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { RetryableFailure } from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { RecordedMetrics } from '../../support/recorded-metrics.js';
import { DispatchFixture, ScriptedTransport } from '../dispatch/dispatch-fixture.js';

const SMS = { 'messaging.system': 'dundun', 'messaging.destination.name': 'sms' };

describeOneDatabase('OpenTelemetry metrics', (database) => {
  const fixture = new DispatchFixture(database);
  let recorded: RecordedMetrics;
  beforeEach(() => void (recorded = RecordedMetrics.register()));
  afterEach(async () => {
    await fixture.clear();
    recorded.unregister();
  });

  it('a message is counted when it is accepted, in each request, and at each status', async () => {
    const transport = new ScriptedTransport();
    const failures = [new RetryableFailure('busy', 'Said no to 2348012345678')];
    transport.script = () => {
      const failure = failures.shift();
      if (failure) throw failure;
    };
    const { send, store } = await fixture.boot({}, transport);
    const id = await send('Hello');
    await eventually(async () => expect(transport.accepted).toHaveLength(1));
    const report = {
      reference: `ref-${id}-s1`,
      messageId: null,
      recipient: '2348012345678',
      status: 'delivered' as const,
      rawStatus: 'DELIVRD',
      errorCode: null,
      providerTime: new Date(Date.now() - 2_000),
    };
    await store.reports.record([report], { provider: 'scripted' });
    await eventually(async () =>
      expect(await recorded.read('dundun.status.changes')).toEqual(
        expect.arrayContaining([
          [{ ...SMS, 'dundun.message.status': 'sent' }, 1],
          [{ ...SMS, 'dundun.message.status': 'delivered' }, 1],
        ]),
      ),
    );
    expect(await recorded.read('dundun.accepted.messages')).toEqual([[SMS, 1]]);
    const request = {
      ...SMS,
      'messaging.operation.name': 'submit',
      'dundun.transport': 'scripted',
    };
    expect(await recorded.read('messaging.client.sent.messages')).toEqual([
      [{ ...request, 'error.type': 'busy' }, 1],
      [request, 1],
    ]);
    expect(await recorded.read('dundun.report.lag')).toMatchObject([[SMS, { count: 1 }]]);
  });

  it('a send that is rolled back or replayed is not counted as accepted', async () => {
    const { messaging, sms } = await fixture.boot({ dispatch: false });
    const message = { from: 'ACME', to: ['2348012345678', '2348012345679'], body: 'x' };
    const failing = messaging.transaction(async (manager) => {
      await sms.send(message, { manager });
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    for (let times = 0; times < 2; times++) await sms.send(message, { idempotencyKey: 'k' });
    await messaging.transaction((manager) => sms.send(message, { manager }));
    // A committed send is counted in the next turn of the event loop.
    await setImmediate();
    expect(await recorded.read('dundun.accepted.messages')).toEqual([[SMS, 4]]);
  });

  it('queues and lanes are read when metrics are collected, and no more after the app has stopped', async () => {
    const { app, messaging, send } = await fixture.boot({ dispatch: false });
    await send('Hello');
    await eventually(async () => expect(await messaging.lanes()).toHaveLength(1));
    const system = { 'messaging.system': 'dundun' };
    expect(await recorded.read('dundun.lanes')).toEqual([
      [{ ...system, 'dundun.lane.state': 'waiting', 'dundun.lane.reason': '' }, 1],
    ]);
    expect((await recorded.read('dundun.queue.age')).map(([attributes]) => attributes)).toEqual([
      { ...system, 'dundun.priority': 'high' },
      { ...system, 'dundun.priority': 'normal' },
    ]);
    await app.close();
    // A read of the closed database would be an error.
    expect(await recorded.errors()).toEqual([]);
  });
});
