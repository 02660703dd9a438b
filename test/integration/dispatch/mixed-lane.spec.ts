import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { type SmsService, WhatsAppService } from '@dundun/messaging';
import { PausedFailure } from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import type { FlatOptions } from '../../support/flat-options.js';
import {
  type DispatchApp,
  DispatchFixture,
  ForwardClock,
  Gate,
  ScriptedTransport,
} from './dispatch-fixture.js';

const HOUR = 3_600_000;
const TEMPLATE = { to: '2348012345678', from: '2348000000001', template: 'hi', language: 'en' };
const ROUTES = [
  { channel: 'sms', use: 'main' },
  { channel: 'whatsapp', use: 'backup' },
] as const;

/** A provider for sms and one for WhatsApp. */
function two(connections?: number) {
  const capabilities = {
    maxRecipients: 100,
    idempotencyWindow: HOUR,
    ...(connections && { connections }),
  };
  const [main, backup] = [new ScriptedTransport(capabilities), new ScriptedTransport(capabilities)];
  return { main, backup, providers: { main: () => main, backup: () => backup } };
}

describeOneDatabase('a lane that mixes providers', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  const boot = (options: FlatOptions, clock?: ForwardClock) =>
    fixture.boot(
      {
        policy: { remove: ['opt-in-required'] },
        routes: [...ROUTES],
        lane: ({ tenant }) => `lane ${tenant}`,
        ...options,
      },
      undefined,
      undefined,
      [],
      clock,
    );
  const sendTemplate = async (
    { app }: DispatchApp,
    options: Parameters<SmsService['send']>[1] = {},
  ) =>
    (await app.get(WhatsAppService).sendTemplate({ ...TEMPLATE, category: 'utility' }, options)).id;
  const countsOf = async ({ app }: DispatchApp, id: string, tenant = '') =>
    (await app.get(WhatsAppService).batch(id, { tenant })).counts;

  it('a batch without a route delays no other batch', async () => {
    const { main, providers } = two();
    const sender = await boot({ providers, dispatch: false });
    await sender.send('before');
    const id = await sendTemplate(sender);
    await sender.send('after');
    const app = await boot({ providers: { main: () => main }, routes: [ROUTES[0]] });
    await eventually(async () => expect(main.texts).toEqual(['before', 'after']));
    await eventually(async () =>
      expect(await app.messaging.lanes()).toMatchObject([{ pauseReason: 'no_route' }]),
    );
    expect(await countsOf(sender, id)).toEqual({ queued: 1 });
  });

  it('a batch without a route expires, and the batches behind it are sent', async () => {
    const { main, providers } = two();
    const sender = await boot({ providers, dispatch: false });
    const id = await sendTemplate(sender, { validFor: 1 });
    await sender.send('after');
    await boot({ providers: { main: () => main }, routes: [ROUTES[0]] });
    await eventually(async () => expect(await countsOf(sender, id)).toEqual({ expired: 1 }));
    await eventually(async () => expect(main.texts).toEqual(['after']));
  });

  it('a lane shows the pause that ends last, and the other provider goes on after its own pause', async () => {
    const { main, backup, providers } = two();
    const sender = await boot({ providers, dispatch: false });
    await sender.send('x');
    await sendTemplate(sender);
    const [started, paused] = [new Gate(), new Gate()];
    main.script = async () => {
      await started.opened;
      setImmediate(paused.open);
      throw new PausedFailure('unauthorized', 'check the token', HOUR);
    };
    backup.script = async () => {
      started.open();
      await paused.opened;
      throw new PausedFailure('throttled', 'wait', 1_500);
    };
    const app = await boot({ providers, concurrency: 2 });
    // The lane is visited again when the first pause is over.
    await eventually(async () =>
      expect(
        await app.store.database.all('SELECT owner FROM messaging_lane WHERE fence > 1'),
      ).toEqual([{ owner: null }]),
    );
    await eventually(async () => expect(backup.started.length).toBeGreaterThan(1));
    const [lane] = await app.messaging.lanes();
    expect(lane?.pauseProvider).toBe('main');
    expect(lane?.pausedUntil?.getTime()).toBeGreaterThan(Date.now() + HOUR / 2);
    expect(main.started).toHaveLength(1);
  });

  it('messages of a provider without a free connection hold none of another provider in the lane', async () => {
    const { main, backup, providers } = two(1);
    const sms = new Gate();
    main.script = () => sms.opened;
    const app = await boot({ providers });
    const sender = { tenant: 'mixed' };
    for (const text of ['one', 'two', 'three']) await app.send(text, sender);
    for (let n = 0; n < 3; n++) await sendTemplate(app, sender);
    await eventually(async () => expect(backup.accepted).toHaveLength(3));
    expect(main.started).toHaveLength(1);
    sms.open();
    await eventually(async () => expect(main.texts).toEqual(['one', 'two', 'three']));
  });

  it('a lane that waits for one provider keeps no connection of another', async () => {
    const { main, backup, providers } = two(1);
    const [sms, whatsapp] = [new Gate(), new Gate()];
    main.script = () => sms.opened;
    backup.script = () => whatsapp.opened;
    const clock = new ForwardClock();
    const app = await boot({ providers, lease: '10h', timeout: '5m' }, clock);
    await app.send('first', { tenant: 'one' });
    await sendTemplate(app, { tenant: 'two' });
    await eventually(async () => {
      expect(main.started).toHaveLength(1);
      expect(backup.started).toHaveLength(1);
    });
    const late = await app.send('late', { tenant: 'mixed', validFor: '1m' });
    const behind = await sendTemplate(app, { tenant: 'mixed' });
    await eventually(async () => {
      expect((await app.sms.batch(late, { tenant: 'mixed' })).counts).toEqual({ sending: 1 });
      expect(await countsOf(app, behind, 'mixed')).toEqual({ sending: 1 });
    });
    const other = await app.send('other', { tenant: 'other' });
    await eventually(async () =>
      expect((await app.sms.batch(other, { tenant: 'other' })).counts).toEqual({ sending: 1 }),
    );
    clock.ahead = 120_000;
    sms.open();
    await eventually(async () => expect(main.texts).toEqual(['first', 'other']));
    await eventually(async () =>
      expect((await app.sms.batch(late, { tenant: 'mixed' })).counts).toEqual({ expired: 1 }),
    );
    whatsapp.open();
    await eventually(async () => expect(backup.accepted).toHaveLength(2));
  });
});

describeOneDatabase('a rate limit that is lowered', (database) => {
  const fixture = new DispatchFixture(database);
  afterEach(() => fixture.clear());

  it('a lowered rate limit also holds for prepared submissions', async () => {
    let rateLimit = { max: 400, per: 1_000 };
    const clock = new ForwardClock();
    const options = { concurrency: 1, rateLimit: () => rateLimit };
    const { sms, transport } = await fixture.boot(options, undefined, undefined, [], clock);
    const [answer, more] = [new Gate(), new Gate()];
    transport.script = async () => {
      if (transport.started.length > 3) more.open();
      await answer.opened;
    };
    const to = Array.from({ length: 400 }, (_, n) => String(2348010000000 + n));
    const { id } = await sms.send({ from: 'ACME', to, body: 'x' });
    await eventually(async () =>
      expect((await sms.batch(id)).counts.sending ?? 0).toBeGreaterThan(150),
    );
    rateLimit = { max: 5, per: 1_000 };
    // A lane reads its limit four times a second.
    clock.ahead = 250;
    answer.open();
    await more.opened;
    const [first, ...others] = transport.started.map(({ recipients }) => recipients.length);
    expect(first).toBeGreaterThan(50);
    expect(Math.max(...others)).toBeLessThanOrEqual(5);
  });
});
