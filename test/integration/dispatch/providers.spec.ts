import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { NoRouteError, WhatsAppService } from '@dundun/messaging';
import { PausedFailure, type Submission, UncertainFailure } from '@dundun/messaging/ports';
import { STATUS_RANK } from '../../../libs/messaging/src/message/status.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import type { FlatOptions } from '../../support/flat-options.js';
import { type DispatchApp, DispatchFixture, ScriptedTransport } from './dispatch-fixture.js';

const HOUR = 3_600_000;
const TEMPLATE = { to: '2348012345678', from: '2348000000001', template: 'hi', language: 'en' };

/** Two providers that carry every channel. */
function two() {
  const [main, backup] = [new ScriptedTransport(), new ScriptedTransport()];
  return { main, backup, providers: { main: () => main, backup: () => backup } };
}

describeOneDatabase('several providers', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  const boot = (options: FlatOptions) =>
    fixture.boot({ policy: { remove: ['opt-in-required'] }, ...options });
  const sendTemplate = ({ app }: DispatchApp) =>
    app.get(WhatsAppService).sendTemplate({ ...TEMPLATE, category: 'utility' });
  const channelsOf = ({ started }: ScriptedTransport) =>
    started.map(({ channel }: Submission) => channel);
  const stored = async ({ store }: DispatchApp) =>
    store.database.all<{ channel: string; provider: string }>(
      `SELECT b.channel, s.provider FROM messaging_submission s
       JOIN messaging_batch b ON b.id = s.batch ORDER BY b.channel`,
    );

  it('each provider carries the messages of its first matching route, and is stored with them', async () => {
    const { main, backup, providers } = two();
    const routes = [{ channel: 'whatsapp', use: 'backup' }, { use: 'main' }];
    const app = await boot({ providers, routes });
    await app.send('x');
    await sendTemplate(app);
    await eventually(async () => {
      expect(channelsOf(main)).toEqual(['sms']);
      expect(channelsOf(backup)).toEqual(['whatsapp']);
    });
    expect((await stored(app)).map(({ provider }) => provider)).toEqual(['main', 'backup']);
  });

  it('messages of several providers keep the order of their lane', async () => {
    const { main, backup, providers } = two();
    const order: string[] = [];
    for (const transport of [main, backup])
      transport.script = ({ channel }) => void order.push(channel);
    const routes = [{ channel: 'whatsapp', use: 'backup' }, { use: 'main' }];
    const lane = () => 'shared';
    const sender = await boot({ providers, routes, lane, dispatch: false });
    for (let n = 0; n < 3; n++) {
      await sender.send(`${n}`);
      await sendTemplate(sender);
    }
    await boot({ providers, routes, lane, concurrency: 1 });
    await eventually(async () => expect(order).toHaveLength(6));
    expect(order).toEqual(['sms', 'whatsapp', 'sms', 'whatsapp', 'sms', 'whatsapp']);
  });

  it('a send that no route matches is refused with a typed error, and nothing is stored', async () => {
    const { providers } = two();
    const app = await boot({ providers, routes: [{ channel: 'sms', use: 'main' }] });
    await expect(sendTemplate(app)).rejects.toThrow(NoRouteError);
    const [row] = await app.store.database.all<{ n: string | number }>(
      'SELECT count(*) AS n FROM messaging_batch',
    );
    expect(Number(row?.n)).toBe(0);
  });

  it('a provider gets its own resends after the routes have changed', async () => {
    const { main, backup, providers } = two();
    const first = await boot({ providers, routes: [{ use: 'main' }] });
    main.script = () => {
      throw new UncertainFailure('timeout', 'no answer');
    };
    await first.send('uncertain');
    await eventually(async () => expect(main.started.length).toBeGreaterThan(0));
    await first.app.close();
    const [again] = main.started;
    main.started.length = 0;
    main.script = () => undefined;
    const second = await boot({ providers, routes: [{ use: 'backup' }] });
    await second.send('new');
    await eventually(async () => {
      expect(main.texts).toEqual(['uncertain']);
      expect(backup.texts).toEqual(['new']);
    });
    expect(main.started[0]?.id).toBe(again?.id);
  });

  it('unanswered submissions of a provider that is no longer configured become unknown', async () => {
    const { main, backup, providers } = two();
    const first = await boot({ providers, routes: [{ use: 'main' }] });
    main.script = () => {
      throw new UncertainFailure('timeout', 'no answer');
    };
    const id = await first.send('uncertain');
    await eventually(async () => expect(main.started.length).toBeGreaterThan(0));
    await first.app.close();
    const second = await boot({ providers: { backup: () => backup } });
    await eventually(async () =>
      expect((await second.sms.batch(id)).counts).toMatchObject({ unknown: 1 }),
    );
    expect(backup.started).toEqual([]);
  });

  it('providers pause separately, and the view of the lane names the paused one', async () => {
    const { main, backup, providers } = two();
    main.script = () => {
      throw new PausedFailure('unauthorized', 'check the token', HOUR);
    };
    const routes = [{ channel: 'whatsapp', use: 'backup' }, { use: 'main' }];
    const app = await boot({ providers, routes });
    await app.send('x');
    await eventually(async () =>
      expect(await app.messaging.lanes()).toMatchObject([
        { lane: ':sms', pauseProvider: 'main', pauseReason: 'unauthorized' },
      ]),
    );
    await sendTemplate(app);
    await eventually(async () => expect(backup.accepted).toHaveLength(1));
    expect(main.started).toHaveLength(1);
  });

  it('resends that wait do not hold up new messages of another provider', async () => {
    const { main, backup, providers } = two();
    const first = await boot({ providers, routes: [{ use: 'main' }] });
    main.script = () => {
      throw new UncertainFailure('timeout', 'no answer');
    };
    const id = await first.send('uncertain');
    await eventually(async () => expect(main.started.length).toBeGreaterThan(0));
    await first.app.close();
    main.started.length = 0;
    main.script = () => {
      throw new UncertainFailure('timeout', 'no answer', HOUR);
    };
    const second = await boot({ providers, routes: [{ use: 'backup' }] });
    await eventually(async () => expect(main.started).toHaveLength(1));
    for (let n = 0; n < 3; n++) await second.send(`${n}`);
    await eventually(async () => expect(backup.texts).toEqual(['0', '1', '2']));
    const [row] = await second.store.database.all<{ status: string | number }>(
      `SELECT status FROM messaging_message WHERE submission = 0 AND batch = '${id}'`,
    );
    expect(Number(row?.status)).toBe(STATUS_RANK.sending);
  });
});
