import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { best, type MessagingOptions } from '@dundun/messaging';
import {
  UncertainFailure,
  UnroutableFailure,
  type WitnessedReceipts,
} from '@dundun/messaging/ports';
import { STATUS_RANK } from '../../../libs/messaging/src/message/status.js';
import { OUTCOME_KEY, OUTCOME_SUMS } from '../../../libs/messaging/src/store/schema/outcomes.js';
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import {
  type DispatchApp,
  DispatchFixture,
  ForwardClock,
  ScriptedTransport,
} from './dispatch-fixture.js';

const MINUTE = 60_000;
const SINGLE = { maxRecipients: 1, idempotencyWindow: 3_600_000 };
const numbers = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => `23480${String(10_000_000 + from + n)}`);

describeEachDatabase('routes by outcome', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(async () => {
    await fixture.clear();
    const source = await database.open();
    for (const table of ['outcome_change', 'outcome_hour'])
      await source.query(`DELETE FROM messaging_${table}`);
    await source.destroy();
  });

  async function boot(clock = new ForwardClock(), reports: MessagingOptions['reports'] = {}) {
    const [a, b] = [new ScriptedTransport(SINGLE), new ScriptedTransport(SINGLE)];
    const app = await fixture.boot(
      {
        providers: { a: () => a, b: () => b },
        routes: [{ channel: 'sms', use: best('a', 'b') }],
        best: { minSamples: 20, explore: 0, refresh: '10s' },
        store: { outcomes: true },
        reports,
      },
      undefined,
      undefined,
      [],
      clock,
    );
    return { ...app, a, b, clock };
  }

  const sendTo = async ({ sms }: DispatchApp, to: string[]) =>
    (await sms.send({ from: 'ACME', to, body: 'x' })).id;
  const countsOf = async ({ sms }: DispatchApp, id: string) => (await sms.batch(id)).counts;

  /**
   * Reports on the messages of a batch that the provider has accepted; `arrives` by their place. The reports
   * come after half a second at least: a provider whose reports are faster than those of another one is
   * doubted, which would depend on the speed of the machine.
   */
  async function report(
    { store }: DispatchApp,
    provider: 'a' | 'b',
    { accepted }: ScriptedTransport,
    arrives: (place: number) => boolean,
  ) {
    const reports = accepted.splice(0).map(({ id, recipients: [recipient = ''] }, place) => ({
      reference: `ref-${id}`,
      messageId: null,
      recipient,
      status: arrives(place) ? ('delivered' as const) : ('undelivered' as const),
      rawStatus: arrives(place) ? 'DELIVRD' : 'UNDELIV',
      errorCode: null,
      providerTime: null,
    }));
    await store.reports.record(reports, { provider });
  }

  const submissionsOf = async ({ sms }: DispatchApp, id: string, position = 0) =>
    (await sms.timeline(`${id}-${position}`)).submissions;

  it('a provider that no longer delivers is left by the next messages, whose timeline has the figures; it leads again once it delivers', async () => {
    const app = await boot();
    const { a, b, clock } = app;
    const pass = async (count: number, aShare: number, bShare: number) => {
      const id = await sendTo(app, numbers(count, Math.round(clock.ahead / 1_000)));
      await eventually(async () => expect(await countsOf(app, id)).toEqual({ sent: count }));
      const [byA, byB] = [a.accepted.length, b.accepted.length];
      clock.ahead += 3_000;
      await report(app, 'a', a, (place) => place < aShare * byA);
      await report(app, 'b', b, (place) => place < bShare * byB);
      clock.ahead += MINUTE;
      return { id, byA, byB };
    };
    // Without data the first of the rule carries all.
    const first = await pass(40, 1, 1);
    expect(first).toMatchObject({ byA: 40, byB: 0 });
    expect(await submissionsOf(app, first.id)).toMatchObject([{ provider: 'a', reason: null }]);
    // So that something is known of the other one, too.
    a.script = () => {
      throw new UnroutableFailure('unroutable', 'not here');
    };
    expect(await pass(40, 1, 0.9)).toMatchObject({ byA: 0, byB: 40 });
    a.script = () => undefined;
    expect(await pass(100, 0.1, 1)).toMatchObject({ byA: 100, byB: 0 });
    const left = await pass(40, 1, 0.9);
    expect(left).toMatchObject({ byA: 0, byB: 40 });
    const [{ reason } = { reason: null }] = await submissionsOf(app, left.id);
    expect(reason).toMatch(
      /^b: 90\.0 % of 40 delivered in [\d.]+ s, a: \d\d\.\d % of 1\d0 delivered in [\d.]+ s$/,
    );
    expect(reason).not.toContain('23480');
    // The counts are of 5 minutes: after a gap, the failures of a can leave the window alone.
    clock.ahead += 10 * MINUTE;
    expect(await pass(40, 1, 0.8)).toMatchObject({ byA: 0, byB: 40 });
    // b pauses, and a delivers again. Once its failures are older than the window, it leads.
    b.script = () => {
      throw new UnroutableFailure('unroutable', 'not here');
    };
    for (let n = 0; n < 3; n++) await pass(100, 1, 1);
    b.script = () => undefined;
    clock.ahead += 170 * MINUTE;
    // The next look comes within seconds.
    await eventually(async () => expect(await pass(5, 1, 1)).toMatchObject({ byA: 5, byB: 0 }));
  });

  it('a provider whose deliveries the test phones have not got is left, and the reason says how much is doubted', async () => {
    let witnessed: WitnessedReceipts[] = [];
    const app = await boot(undefined, { witness: () => Promise.resolve(witnessed) });
    const { a, b, clock } = app;
    const refuse = () => {
      throw new UnroutableFailure('unroutable', 'not here');
    };
    const pass = async (provider: 'a' | 'b') => {
      const id = await sendTo(app, numbers(40, Math.round(clock.ahead / 1_000)));
      await eventually(async () => expect(await countsOf(app, id)).toEqual({ sent: 40 }));
      expect([a.accepted.length, b.accepted.length]).toEqual(provider === 'a' ? [40, 0] : [0, 40]);
      clock.ahead += 3_000;
      await report(app, 'a', a, () => true);
      await report(app, 'b', b, (place) => place < 36);
      clock.ahead += MINUTE;
      return id;
    };
    await pass('a');
    a.script = refuse;
    await pass('b');
    a.script = () => undefined;
    await pass('a');
    const place = { channel: 'sms', country: 'NG', reported: 10 };
    // Where no provider reaches the phones, they say nothing of one.
    witnessed = [{ ...place, provider: 'a', seen: 0 }];
    await pass('a');
    witnessed.push({ ...place, provider: 'b', seen: 9 });
    const [{ reason } = { reason: null }] = await submissionsOf(app, await pass('b'));
    expect(reason).toMatch(
      /^b: 90\.0 % of 40 delivered in [\d.]+ s, a: 100\.0 % of \d+ delivered in [\d.]+ s, 72\.\d % doubted$/,
    );
  });

  it('an uncertain submission stays with its provider although another one leads by now', async () => {
    const app = await boot();
    const { a, b, clock } = app;
    const gate: { open: boolean } = { open: false };
    a.script = () => {
      if (!gate.open) throw new UncertainFailure('timeout', 'no answer');
    };
    const id = await sendTo(app, numbers(1));
    await eventually(async () => expect(a.started.length).toBeGreaterThan(1));
    await app.store.database.transaction((tx) =>
      tx.run(
        `INSERT INTO messaging_outcome_change (part, n, ${OUTCOME_KEY.join(', ')}, ${OUTCOME_SUMS.join(', ')})
       SELECT ?, r.n, r.start, '', 'sms', r.provider, 'NG', 'ACME', '', '', r.status, '', '', 100, 100${', 0'.repeat(OUTCOME_SUMS.length - 2)}
       FROM (SELECT 1 AS n, ${slot(clock)} AS start, 'a' AS provider, ${STATUS_RANK.undelivered} AS status
         UNION ALL SELECT 2, ${slot(clock)}, 'b', ${STATUS_RANK.delivered}) AS r`,
        ['01890000-0000-7000-8000-000000000001'],
      ),
    );
    clock.ahead += MINUTE;
    const next = await sendTo(app, numbers(1, 1));
    await eventually(async () => expect(await countsOf(app, next)).toEqual({ sent: 1 }));
    expect(b.accepted.flatMap(({ recipients }) => recipients)).toEqual(numbers(1, 1));
    gate.open = true;
    await eventually(async () => expect(await countsOf(app, id)).toEqual({ sent: 1 }));
    expect(a.accepted.flatMap(({ recipients }) => recipients)).toEqual(numbers(1));
    expect(await submissionsOf(app, id)).toMatchObject([{ provider: 'a', outcome: 'accepted' }]);
  });
});

describeOneDatabase('best() without counts', (database) => {
  it('an app whose outcomes are not counted does not start', async () => {
    const routes = [{ channel: 'sms', use: best('a', 'b') }];
    const providers = { a: () => new ScriptedTransport(), b: () => new ScriptedTransport() };
    const started = new DispatchFixture(database).boot({ providers, routes });
    await expect(started).rejects.toThrow(/^store\.outcomes: outcomes are not counted/);
  });
});

/** Start of the present 5 minutes, in epoch microseconds. */
function slot(clock: ForwardClock): number {
  const now = clock.now();
  return (now - (now % (5 * MINUTE))) * 1_000;
}
