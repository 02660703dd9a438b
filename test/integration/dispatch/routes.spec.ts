import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { cheapest, failover, NoRouteError, weighted } from '@dundun/messaging';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  type Submission,
  UncertainFailure,
  UnroutableFailure,
} from '@dundun/messaging/ports';
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type DispatchApp, DispatchFixture, Gate, ScriptedTransport } from './dispatch-fixture.js';

const HOUR = 3_600_000;
const KEYLESS = { maxRecipients: 100, idempotencyWindow: 0 };

/** Two providers, and the numbers that each has accepted. */
function two(capabilities?: ScriptedTransport['capabilities']) {
  const [a, b] = [new ScriptedTransport(capabilities), new ScriptedTransport(capabilities)];
  return { a, b, providers: { a: () => a, b: () => b } };
}

const acceptedBy = ({ accepted }: ScriptedTransport) =>
  accepted.flatMap(({ recipients }) => recipients);

/** Numbers of Nigeria and Ghana in turns. */
const nigerian = (n: number) => `23480${String(10_000_000 + n)}`;
const ghanaian = (n: number) => `23320${String(1_000_000 + n)}`;
const mixed = (count: number) =>
  Array.from({ length: count }, (_, n) => (n % 2 === 0 ? nigerian(n) : ghanaian(n)));

const BY_COUNTRY = [
  { channel: 'sms', to: ['234'], use: 'a' },
  { channel: 'sms', to: ['233'], use: 'b' },
];

describeOneDatabase('routes between providers', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  const countsOf = async ({ sms }: DispatchApp, id: string) => (await sms.batch(id)).counts;
  const sendTo = async ({ sms }: DispatchApp, to: string[], body = 'x') =>
    (await sms.send({ from: 'ACME', to, body })).id;
  const providersOf = async ({ sms }: DispatchApp, id: string, position = 0) =>
    (await sms.timeline(`${id}-${position}`)).submissions.map(({ provider, outcome }) => [
      provider,
      outcome,
    ]);

  it('a send that has a recipient without a route is refused by its field, and nothing is stored', async () => {
    const { providers } = two();
    const app = await fixture.boot({ providers, routes: BY_COUNTRY });
    const refused = await sendTo(app, [nigerian(1), '14155550123', '14155550123']).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(NoRouteError);
    expect(refused).toMatchObject({
      code: 'no_route',
      fields: [{ path: 'to[1]', message: 'has no route for sms' }],
    });
    expect(await app.store.database.all('SELECT id FROM messaging_batch')).toEqual([]);
  });

  it('a route carries each recipient by the cheapest provider within the price, and by the next one after a refusal', async () => {
    const { a, b } = two();
    a.script = ({ recipients }) => {
      if (recipients.includes(nigerian(2))) throw new UnroutableFailure('unroutable', 'not here');
    };
    const providers = {
      a: { transport: () => a, prices: { '234': '0.0020', '233': '0.0300' } },
      b: { transport: () => b, prices: { '*': '0.0030' } },
    };
    const routes = [{ channel: 'sms', maxPrice: '0.0200', use: cheapest('a', 'b') }];
    const app = await fixture.boot({ providers, routes });
    const batch = await sendTo(app, [nigerian(1), ghanaian(1)]);
    const refused = await sendTo(app, [nigerian(2)]);
    await eventually(async () => {
      expect(await countsOf(app, batch)).toEqual({ sent: 2 });
      expect(await countsOf(app, refused)).toEqual({ sent: 1 });
    });
    expect(acceptedBy(a)).toEqual([nigerian(1)]);
    expect(acceptedBy(b).toSorted()).toEqual([ghanaian(1), nigerian(2)].toSorted());
  });

  it('a send that no provider carries within the price is refused', async () => {
    const { a, b } = two();
    const providers = { a: { transport: () => a, prices: { '234': '0.0201' } }, b: () => b };
    const routes = [{ to: ['234'], maxPrice: '0.0200', use: 'a' }, { use: 'b' }];
    const app = await fixture.boot({ providers, routes });
    await expect(sendTo(app, [nigerian(1)])).rejects.toBeInstanceOf(NoRouteError);
  });

  it('routes carry the recipients of one send by several providers, with full requests and one row each', async () => {
    const { a, b, providers } = two();
    const app = await fixture.boot({ providers, routes: BY_COUNTRY });
    const to = mixed(500);
    const id = await sendTo(app, to);
    await eventually(async () => expect(await countsOf(app, id)).toEqual({ sent: 500 }));
    expect(acceptedBy(a)).toEqual(to.filter((one) => one.startsWith('234')));
    expect(acceptedBy(b)).toEqual(to.filter((one) => one.startsWith('233')));
    // Far from one request for each recipient, although their neighbours go elsewhere.
    for (const { accepted } of [a, b]) expect(accepted.length).toBeLessThan(20);
    expect(await providersOf(app, id, 1)).toEqual([['b', 'accepted']]);
  });

  it('a paused provider delays no recipient of another provider, also in the same batch', async () => {
    const { a, b, providers } = two();
    a.script = () => {
      throw new PausedFailure('unauthorized', 'check the token', HOUR);
    };
    const app = await fixture.boot({ providers, routes: BY_COUNTRY });
    const first = await sendTo(app, mixed(100));
    await eventually(async () => expect(acceptedBy(b)).toHaveLength(50));
    await eventually(async () =>
      expect(await countsOf(app, first)).toEqual({ queued: 50, sent: 50 }),
    );
    const behind = await sendTo(app, [ghanaian(1_000)]);
    await sendTo(app, [nigerian(1_001)]);
    await eventually(async () => expect(await countsOf(app, behind)).toEqual({ sent: 1 }));
    expect(a.started).toHaveLength(1);
    expect(await app.messaging.lanes()).toMatchObject([
      { lane: ':sms', pauseProvider: 'a', pauseReason: 'unauthorized' },
    ]);
  });

  it('each provider keeps its order through a pause of one of them', async () => {
    const { a, b, providers } = two({ maxRecipients: 1, idempotencyWindow: HOUR });
    let refusals = 3;
    a.script = () => {
      if (refusals-- > 0) throw new PausedFailure('throttled', 'slower', 20);
    };
    const app = await fixture.boot({ providers, routes: BY_COUNTRY, concurrency: 1 });
    for (let n = 0; n < 6; n++) await sendTo(app, mixed(10), `${n}`);
    await eventually(async () => {
      expect(a.accepted).toHaveLength(30);
      expect(b.accepted).toHaveLength(30);
    });
    const order = ({ accepted }: ScriptedTransport) =>
      accepted.map(
        ({ recipients, content }) => `${(content as { text: string }).text} ${recipients[0]}`,
      );
    for (const one of [a, b]) expect(order(one)).toEqual(order(one).toSorted());
  });

  it.each([
    ['pauses', () => new PausedFailure('unreachable', 'refused', HOUR)],
    ['refuses for now', () => new RetryableFailure('busy', 'later')],
    ['cannot route', () => new UnroutableFailure('no_network', 'not here')],
  ])(
    'a failover sends every message by the second provider, once, where the first one %s',
    async (_, failure) => {
      const { a, b, providers } = two();
      a.script = () => {
        throw failure();
      };
      const app = await fixture.boot({ providers, routes: [{ use: failover('a', 'b') }] });
      const to = Array.from({ length: 250 }, (__, n) => nigerian(n));
      const id = await sendTo(app, to);
      await eventually(async () => expect(await countsOf(app, id)).toEqual({ sent: 250 }));
      expect(acceptedBy(b)).toEqual(expect.arrayContaining(to));
      expect(acceptedBy(b)).toHaveLength(250);
      expect(a.accepted).toEqual([]);
      expect((await providersOf(app, id)).at(-1)).toEqual(['b', 'accepted']);
    },
  );

  it.each<[string, ScriptedTransport['capabilities'] | undefined, object]>([
    ['honours keys', undefined, { sending: 1 }],
    ['honours no keys', KEYLESS, { unknown: 1 }],
  ])(
    'a failover never gives the second provider a message that the first one may have, where it %s',
    async (_, capabilities, counts) => {
      const { a, b, providers } = two(capabilities);
      a.script = () => {
        throw new UncertainFailure('timeout', 'no answer');
      };
      const app = await fixture.boot({
        providers,
        routes: [{ use: failover('a', 'b') }],
        backoff: '10m',
      });
      const id = await app.send('uncertain');
      await eventually(async () => expect(a.started).toHaveLength(1));
      await eventually(async () => expect(await countsOf(app, id)).toEqual(counts));
      await app.send('after');
      await eventually(async () =>
        expect([...a.texts, ...b.texts, a.started.length > 1]).not.toEqual([false]),
      );
      expect(b.texts).not.toContain('uncertain');
    },
  );

  it('a permanent failure is rejected without asking another provider', async () => {
    const { a, b, providers } = two();
    a.script = () => {
      throw new PermanentFailure('invalid_number', 'no such number');
    };
    const app = await fixture.boot({ providers, routes: [{ use: failover('a', 'b') }] });
    const id = await app.send('x');
    await eventually(async () => expect(await countsOf(app, id)).toEqual({ rejected: 1 }));
    expect(b.started).toEqual([]);
  });

  it('a message that no provider of the route can reach is rejected with the last reason', async () => {
    const { a, b, providers } = two();
    a.script = () => {
      throw new UnroutableFailure('not_by_a', 'not here');
    };
    b.script = () => {
      throw new UnroutableFailure('not_by_b', 'not here');
    };
    const app = await fixture.boot({ providers, routes: [{ use: failover('a', 'b') }] });
    const id = await app.send('x');
    await eventually(async () => expect(await countsOf(app, id)).toEqual({ rejected: 1 }));
    expect([a.started.length, b.started.length]).toEqual([1, 1]);
    expect((await app.sms.message(`${id}-0`)).errorCode).toBe('not_by_b');
  });

  it('only the refused messages of a partly refused submission fail over', async () => {
    const { a, b, providers } = two();
    const [kept, gone, lost] = [nigerian(0), nigerian(1), nigerian(2)];
    a.submit = async (submission: Submission) => {
      a.started.push(submission);
      return {
        reference: `ref-${submission.id}`,
        rejected: new Map([
          [gone, 'no_network'],
          [lost, 'invalid_number'],
        ]),
        unroutable: new Set([gone]),
      };
    };
    const app = await fixture.boot({ providers, routes: [{ use: failover('a', 'b') }] });
    const id = await sendTo(app, [kept, gone, lost]);
    await eventually(async () => expect(await countsOf(app, id)).toEqual({ sent: 2, rejected: 1 }));
    expect(a.started.map(({ recipients }) => recipients)).toEqual([[kept, gone, lost]]);
    expect(b.started.map(({ recipients }) => recipients)).toEqual([[gone]]);
    expect(await providersOf(app, id, 0)).toEqual([['a', 'accepted']]);
    expect((await app.sms.message(`${id}-2`)).errorCode).toBe('invalid_number');
  });

  it('a try of the whole route counts once, and maxAttempts ends the tries', async () => {
    const { a, b, providers } = two();
    for (const one of [a, b])
      one.script = ({ content }) => {
        if ((content as { text: string }).text === 'bad')
          throw new RetryableFailure('busy', 'later');
      };
    const app = await fixture.boot({
      providers,
      routes: [{ use: failover('a', 'b') }],
      maxAttempts: 2,
    });
    const id = await app.send('bad');
    const others = setInterval(() => void app.send('good'), 20);
    await eventually(async () => expect(await countsOf(app, id)).toEqual({ failed: 1 })).finally(
      () => clearInterval(others),
    );
    const tries = [a, b].map(
      ({ started }) =>
        started.filter(({ content }) => (content as { text: string }).text === 'bad').length,
    );
    expect(tries[1]).toBeGreaterThanOrEqual(2);
  });

  it('a weighted route shares submissions by weight', async () => {
    const { a, b, providers } = two({ maxRecipients: 1, idempotencyWindow: HOUR });
    const app = await fixture.boot({ providers, routes: [{ use: weighted({ a: 70, b: 30 }) }] });
    const id = await sendTo(
      app,
      Array.from({ length: 1_000 }, (_, n) => nigerian(n)),
    );
    await eventually(async () => expect(await countsOf(app, id)).toEqual({ sent: 1_000 }));
    expect(a.accepted.length + b.accepted.length).toBe(1_000);
    // Four times the deviation of so many; the hash itself is tested over more.
    expect(Math.abs(a.accepted.length - 700)).toBeLessThan(60);
  });

  it('equal ids of two providers are kept apart in reports', async () => {
    const { a, b, providers } = two({ maxRecipients: 1, idempotencyWindow: HOUR });
    for (const one of [a, b])
      one.submit = async (submission) => {
        one.accepted.push(submission);
        return { reference: 'id-1' };
      };
    const app = await fixture.boot({ providers, routes: BY_COUNTRY });
    const id = await sendTo(app, [nigerian(1), ghanaian(1)]);
    await eventually(async () => expect(await countsOf(app, id)).toEqual({ sent: 2 }));
    const report = { reference: 'id-1', recipient: null, messageId: null, errorCode: null };
    const of = (status: string) => [{ ...report, status, rawStatus: status, providerTime: null }];
    await app.store.reports.record(of('delivered'), { provider: 'b' });
    expect(await countsOf(app, id)).toEqual({ sent: 1, delivered: 1 });
    expect((await app.sms.message(`${id}-1`)).status).toBe('delivered');
    await app.store.reports.record(of('undelivered'), { provider: 'a' });
    expect((await app.sms.message(`${id}-0`)).status).toBe('undelivered');
    expect((await app.sms.message(`${id}-1`)).status).toBe('delivered');
  });

  it('a submission keeps its provider that was stored before the process died', async () => {
    const { a, b, providers } = two();
    const first = await fixture.boot({
      providers,
      routes: [{ use: failover('a', 'b') }],
      lease: '1s',
      shutdownTimeout: 1,
    });
    const [started, never] = [new Gate(), new Gate()];
    a.script = () => {
      started.open();
      return never.opened;
    };
    const id = await first.send('x');
    await started.opened;
    await first.app.close();
    a.script = () => undefined;
    const second = await fixture.boot({ providers, routes: [{ use: failover('b', 'a') }] });
    await eventually(async () => expect(await countsOf(second, id)).toEqual({ sent: 1 }));
    expect(a.texts).toEqual(['x']);
    expect(b.started).toEqual([]);
    never.open();
  });
});

describeEachDatabase(
  'a route by weight',
  (database) => {
    const fixture = new DispatchFixture(database);
    afterEach(() => fixture.clear());

    it('a route by weight shares 10,000 messages within two points, each sent once', async () => {
      const { a, b, providers } = two({ maxRecipients: 1, idempotencyWindow: HOUR });
      const routes = [{ use: weighted({ a: 70, b: 30 }) }];
      const app = await fixture.boot({ providers, routes, concurrency: 500 });
      const to = Array.from({ length: 10_000 }, (_, n) => nigerian(n));
      const { id } = await app.sms.send({ from: 'ACME', to, body: 'x' });
      await eventually(async () =>
        expect((await app.sms.batch(id)).counts).toEqual({ sent: 10_000 }),
      );
      expect([...acceptedBy(a), ...acceptedBy(b)].toSorted()).toEqual(to.toSorted());
      expect(Math.abs(a.accepted.length / 10_000 - 0.7)).toBeLessThanOrEqual(0.02);
    });
  },
  ['sqlite'],
);
