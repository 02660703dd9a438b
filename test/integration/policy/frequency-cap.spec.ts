import { afterEach, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import {
  type Clock,
  ContactsService,
  PolicyService,
  SmsService,
  VoiceService,
  WhatsAppService,
} from '@dundun/messaging';
import type { DeliveryReport } from '@dundun/messaging/ports';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { describeEachDatabase } from '../../support/databases.js';
import type { FlatOptions } from '../../support/flat-options.js';
import { eventually } from '../../support/eventually.js';
import { GatedTransport } from './gated.transport.js';
import { bootApp } from './policy-app.js';

const HOUR = 3_600_000;

class LeapingClock implements Clock {
  leap = 0;
  now = () => systemClock.now() + this.leap;
  monotonic = () => systemClock.monotonic() + this.leap;
  id = () => systemClock.id();
}

describeEachDatabase('the frequency cap', (database) => {
  let app: TestingModule;
  let sms: SmsService;
  let whatsApp: WhatsAppService;
  let transport: GatedTransport;
  let clock: LeapingClock;
  let next = 0;
  const number = () => `23480${60_000_000 + next++ * 10}`;

  async function boot(
    frequencyCap: NonNullable<FlatOptions['policy']>['frequencyCap'],
    capabilities?: GatedTransport['capabilities'],
    more: FlatOptions = {},
  ): Promise<void> {
    transport = new GatedTransport(capabilities);
    clock = new LeapingClock();
    const lane = `lane ${next}`;
    app = await bootApp(
      database.options(),
      {
        transport: () => transport,
        lane: ({ channel }) => `${lane} ${channel}`,
        policy: { frequencyCap: frequencyCap! },
        whatsapp: { templates: 'open' },
        ...more,
      },
      { clock },
    );
    sms = app.get(SmsService);
    whatsApp = app.get(WhatsAppService);
  }
  const send = (to: string | string[], more: object = {}) =>
    sms.send({ from: 'ACME', to, body: 'Hello', ...more });
  const template = async (to: string, category?: 'utility' | 'marketing', tenant = '') => {
    const message = { from: '2348000000001', to, template: 't', language: 'en' };
    return whatsApp.sendTemplate({ ...message, ...(category && { category }) }, { tenant });
  };
  /** Messages of an earlier test are sent too. */
  const sentOf = (ids: readonly string[]) =>
    transport.submissions.filter(({ batchId }) => ids.includes(batchId));
  const counts = async (id: string) => (await sms.batch(id)).counts;
  const capped = { code: 'frequency_capped' };

  afterEach(() => app.close());

  it('the cap limits each recipient in a rolling window', async () => {
    await boot({ sms: { max: 2, per: '24h' } });
    const [person, other] = [number(), number()];
    for (let n = 0; n < 2; n++) {
      const { id } = await send(person);
      await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
      clock.leap += HOUR;
    }
    await expect(send(person)).rejects.toMatchObject(capped);
    const { id } = await send([person, other]);
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1, rejected: 1 }));
    clock.leap += 22 * HOUR + 1_000;
    expect((await send(person)).recipients).toBe(1);
  });

  it('the first queued messages up to the cap are sent, the rest rejected', async () => {
    await boot({ sms: { max: 3, per: '1h' } }, { maxRecipients: 10, idempotencyWindow: HOUR });
    const [person, other] = [number(), number()];
    const sendAt = new Date(clock.now() + HOUR);
    const sent: string[] = [];
    for (let n = 0; n < 5; n++) sent.push((await send([person, other], { sendAt })).id);
    for (const id of sent) await sms.reschedule(id, new Date());
    const ends = [{ sent: 2 }, { sent: 2 }, { sent: 2 }, { rejected: 2 }, { rejected: 2 }];
    await eventually(async () => expect(await Promise.all(sent.map(counts))).toEqual(ends));
    const { data } = await sms.messages(sent[4]!);
    expect(data.map(({ errorCode }) => errorCode)).toEqual([capped.code, capped.code]);
    expect(sentOf(sent)).toHaveLength(3);
  });

  it('the cap does not count a message against itself when policy is asked again', async () => {
    await boot({ sms: { max: 3, per: '1h' } }, undefined, { concurrency: 1 });
    const person = number();
    const held: (() => void)[] = [];
    transport.answer = () => new Promise((resolve) => held.push(resolve));
    const sent: string[] = [];
    for (let n = 0; n < 3; n++) sent.push((await send(person)).id);
    await eventually(async () => expect(sentOf(sent)).toHaveLength(1));
    clock.leap += 1_500;
    transport.answer = async () => undefined;
    for (const release of held) release();
    const all = [{ sent: 1 }, { sent: 1 }, { sent: 1 }];
    await eventually(async () => expect(await Promise.all(sent.map(counts))).toEqual(all));
  });

  it('a call that waits for its redial counts towards the cap', async () => {
    await boot({ voice: { max: 1, per: '1h' } }, { maxRecipients: 1, idempotencyWindow: 0 });
    const person = number();
    const voice = app.get(VoiceService);
    const call = () =>
      voice.send({
        from: '2348000000001',
        to: person,
        text: 'Hello',
        redial: { times: 1, after: '30m' },
      });
    const { id } = await call();
    await eventually(async () => expect((await voice.batch(id)).counts).toEqual({ initiated: 1 }));
    await expect(call()).rejects.toMatchObject(capped);
    const busy: DeliveryReport = {
      reference: `${id}-s0`,
      messageId: null,
      recipient: person,
      status: 'busy',
      rawStatus: 'busy',
      errorCode: null,
      providerTime: null,
    };
    await app.get(MessageStore).reports.record([busy], { provider: transport.name });
    expect(await voice.call(`${id}-0`)).toMatchObject({ status: 'initiated', errorCode: 'busy' });
    await expect(call()).rejects.toMatchObject(capped);
    await voice.cancel(id);
    expect((await call()).recipients).toBe(1);
  });

  it('the cap counts per category and tenant, and an unknown template as marketing', async () => {
    await boot({ marketing: { max: 1, per: '7d' } });
    const person = number();
    for (const tenant of ['', 'other'])
      await app.get(ContactsService).optIn(person, { channel: 'whatsapp', source: 'test', tenant });
    const first = await template(person);
    expect((await first.outcome()).status).toBe('sent');
    await expect(template(person, 'marketing')).rejects.toMatchObject(capped);
    expect((await (await template(person, 'utility')).outcome()).status).toBe('sent');
    expect((await (await template(person, 'marketing', 'other')).outcome()).status).toBe('sent');
    expect((await send(person)).recipients).toBe(1);
    const content = { kind: 'template', template: 't', language: 'en', params: [] } as const;
    const [explained] = await app
      .get(PolicyService)
      .explain({ channel: 'whatsapp', from: '1', to: person, content });
    expect(explained?.decisions.at(-1)).toMatchObject({ policy: 'frequency-cap', ...capped });
  });
});
