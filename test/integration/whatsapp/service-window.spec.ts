import { afterEach, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import {
  type Clock,
  ContactsService,
  type MessageContent,
  SmsService,
  WhatsAppService,
} from '@dundun/messaging';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { describeOneDatabase } from '../../support/databases.js';
import type { FlatOptions } from '../../support/flat-options.js';
import { eventually } from '../../support/eventually.js';
import { GatedTransport } from '../policy/gated.transport.js';
import { bootApp } from '../policy/policy-app.js';

const OURS = '2348000000001';
const HOUR = 3_600_000;
const MARGIN = 60_000;
const template: MessageContent = {
  kind: 'template',
  template: 'still_there',
  language: 'en',
  params: [],
};

/** Its time of day stands still but for the leaps. */
class LeapingClock implements Clock {
  readonly #started = systemClock.now();
  leap = 0;
  now = () => this.#started + this.leap;
  monotonic = () => systemClock.monotonic() + this.leap;
  id = () => systemClock.id();
}

describeOneDatabase('the customer service window', (database) => {
  let app: TestingModule;
  let whatsApp: WhatsAppService;
  let contacts: ContactsService;
  let transport: GatedTransport;
  let clock: LeapingClock;
  let next = 0;

  async function boot(options: FlatOptions = {}): Promise<string> {
    transport = new GatedTransport();
    clock = new LeapingClock();
    const lane = `window ${next}`;
    app = await bootApp(
      database.options(),
      {
        transport: () => transport,
        whatsapp: { from: OURS, templates: 'open' },
        lane: () => lane,
        ...options,
      },
      { clock },
    );
    whatsApp = app.get(WhatsAppService);
    contacts = app.get(ContactsService);
    const to = `23480${80_000_000 + next++ * 10}`;
    await contacts.optIn(to, { channel: 'whatsapp', source: 'test' });
    return to;
  }
  afterEach(() => app.close());

  /** Messages of an earlier test are sent too. */
  const sentOf = (id: string) => transport.submissions.filter(({ batchId }) => batchId === id);
  const text = (to: string) => whatsApp.sendText({ to, text: 'Hello' });
  const starts = (to: string) =>
    whatsApp.sendTemplate({ to, template: 'hello', language: 'en', category: 'utility' });

  // Interface section 3.1, row by row, with the template that is always allowed beside.
  it('the window opens when the customer writes and closes after 24 hours', async () => {
    const to = await boot();
    const writes = () => contacts.recordInbound(to, { sender: OURS });
    const states: [trigger: () => unknown, open: boolean][] = [
      [() => undefined, false],
      [() => starts(to), false],
      [writes, true],
      [() => text(to), true],
      [() => (clock.leap += 24 * HOUR - MARGIN - 10_000), true],
      [() => (clock.leap += 10_000), false],
      [writes, true],
      [() => (clock.leap += 12 * HOUR), true],
      [writes, true],
      [() => (clock.leap += 23 * HOUR), true],
      [() => (clock.leap += HOUR), false],
    ];
    for (const [index, [trigger, open]] of states.entries()) {
      await trigger();
      const told = await text(to).then(
        () => 'sent',
        (error: { code: string }) => error.code,
      );
      expect([index, told]).toEqual([index, open ? 'sent' : 'window_closed']);
      expect((await starts(to)).recipients).toBe(1);
    }
  });

  it('a text accepted in an open window is not sent after the window closed', async () => {
    const to = await boot();
    await contacts.recordInbound(to, { sender: OURS });
    const sendAt = new Date(clock.now() + HOUR);
    const receipt = await whatsApp.sendText({ to, text: 'Hello', sendAt });
    clock.leap += 24 * HOUR;
    await whatsApp.reschedule(receipt.id, new Date());
    await eventually(async () =>
      expect(await whatsApp.message(`${receipt.id}-0`)).toMatchObject({
        status: 'rejected',
        errorCode: 'window_closed',
      }),
    );
    expect(sentOf(receipt.id)).toEqual([]);
  });

  it('the configured template replaces a text after the window closed', async () => {
    const to = await boot({ policy: { serviceWindow: { substitute: () => template } } });
    await contacts.recordInbound(to, { sender: OURS });
    const sendAt = new Date(clock.now() + HOUR);
    const receipt = await whatsApp.sendText({ to, text: 'Hello', sendAt });
    clock.leap += 24 * HOUR;
    await whatsApp.reschedule(receipt.id, new Date());
    await eventually(async () =>
      expect(await whatsApp.message(`${receipt.id}-0`)).toMatchObject({
        status: 'sent',
        content: template,
      }),
    );
    expect(sentOf(receipt.id).map(({ content }) => content)).toEqual([template]);
    expect((await whatsApp.batch(receipt.id)).content).toEqual({ kind: 'text', text: 'Hello' });
  });

  it('without a configured number the window opens by a message to any number', async () => {
    const to = await boot({ whatsapp: { templates: 'open' } });
    await expect(text(to)).rejects.toMatchObject({ code: 'window_closed' });
    await contacts.recordInbound(to, { sender: '2348000000002' });
    expect((await text(to)).recipients).toBe(1);
    await expect(whatsApp.sendText({ from: OURS, to, text: 'x' })).rejects.toMatchObject({
      code: 'window_closed',
    });
  });

  it('upstream groups pass through unexpanded', async () => {
    const to = await boot({ sms: { upstreamGroups: true } });
    const own = await contacts.groups.create('Ours');
    await contacts.groups.add(own.id, [to]);
    const sms = app.get(SmsService);
    const groups = ['grp_0123456789abc', own.id];
    const { id, recipients } = await sms.send({
      from: 'ACME',
      to: [to, ...groups, groups[0]!],
      body: 'Hello',
    });
    expect(recipients).toBe(3);
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 3 }));
    expect(sentOf(id).flatMap((one) => one.recipients)).toEqual([to, ...groups]);
    await expect(sms.send({ from: 'ACME', to: ['grp_short'], body: 'x' })).rejects.toThrow('to[0]');
  });
});
