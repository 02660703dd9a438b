import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { EventEmitter2 } from '@nestjs/event-emitter';
import {
  ContactsService,
  defineTemplates,
  MESSAGE_STATUS_CHANGED,
  MessageNotFoundError,
  type MessageStatusChanged,
  MessagingService,
  simulator,
  SmsService,
  WhatsAppService,
} from '@dundun/messaging';
import { ReportRecorder } from '../../../libs/messaging/src/store/verbs/report.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { bootApp } from '../policy/policy-app.js';

const FROM = '2348000000001';
const templates = defineTemplates({
  order_update: { language: 'en', category: 'utility', params: ['name', 'order'] },
  sale: { language: 'en', category: 'marketing', params: 1 },
});
const rateCard = {
  currency: 'NGN',
  sms: '4.25',
  whatsapp: { utility: '6.7', marketing: '51.6', service: '0' },
};

describeOneDatabase('WhatsApp', (database) => {
  let app: TestingModule;
  let whatsApp: WhatsAppService;
  let contacts: ContactsService;
  let next = 0;
  const number = (digits = '0000') => `23480${6_000 + next++}${digits}`;
  const optedIn = async (digits?: string) => {
    const phone = number(digits);
    await contacts.optIn(phone, { channel: 'whatsapp', source: 'test' });
    return phone;
  };
  const update = (to: string) => ({
    to,
    template: templates.order_update,
    params: { name: 'Ade', order: '17' },
  });

  beforeAll(async () => {
    app = await bootApp(database.options(), {
      transport: simulator({ reportDelay: 1, replyDelay: 1, rateCard }),
      whatsapp: { from: FROM, templates },
      rateCard,
    });
    whatsApp = app.get(WhatsAppService);
    contacts = app.get(ContactsService);
  });
  afterAll(() => app.close());

  it("a template is sent and the receipt gives the platform's answer", async () => {
    const to = await optedIn();
    const receipt = await whatsApp.sendTemplate(update(`+${to}`));
    const outcome = await receipt.outcome();
    expect(outcome).toMatchObject({
      id: `${receipt.id}-0`,
      recipient: to,
      sender: FROM,
      category: 'utility',
      cost: '6.7',
      currency: 'NGN',
      errorCode: null,
      content: { kind: 'template', template: 'order_update', language: 'en' },
    });
    expect(outcome.content).toMatchObject({ params: ['Ade', '17'] });
    expect(['sent', 'delivered', 'read']).toContain(outcome.status);
    expect(outcome.providerId).toMatch(/^wamid\./);
    await eventually(async () =>
      expect(await whatsApp.message(outcome.providerId!)).toMatchObject({
        id: outcome.id,
        status: 'read',
      }),
    );
    expect(await whatsApp.message(outcome.id)).toEqual(await whatsApp.message(outcome.providerId!));
    await expect(whatsApp.message(outcome.id, { tenant: 'other' })).rejects.toBeInstanceOf(
      MessageNotFoundError,
    );
  });

  it("a status event carries the platform's message id", async () => {
    const changes: MessageStatusChanged[] = [];
    const hear = (change: MessageStatusChanged) => void changes.push(change);
    const events = app.get(EventEmitter2).on(MESSAGE_STATUS_CHANGED, hear);
    const to = await optedIn('9906');
    const { id, providerId } = await (await whatsApp.sendTemplate(update(to))).outcome();
    const report = {
      reference: null,
      messageId: providerId,
      recipient: to,
      status: 'delivered' as const,
      rawStatus: 'DELIVRD',
      errorCode: null,
      providerTime: null,
    };
    await app.get(ReportRecorder).record([report], { provider: 'simulator' });
    events.off(MESSAGE_STATUS_CHANGED, hear);
    expect(
      changes.find((change) => change.messageId === id && change.status === 'delivered'),
    ).toEqual(expect.objectContaining({ providerId }));
  });

  it("outcome() gives the platform's refusal", async () => {
    const receipt = await whatsApp.sendTemplate(update(await optedIn('9903')));
    expect(await receipt.outcome()).toMatchObject({
      status: 'rejected',
      errorCode: 'destination_refused',
      cost: null,
    });
  });

  it('outcome() of a scheduled message returns after its timeout', async () => {
    const sendAt = new Date(Date.now() + 3_600_000);
    const receipt = await whatsApp.sendTemplate({ ...update(await optedIn()), sendAt });
    expect(await receipt.outcome({ timeout: 1 })).toMatchObject({ status: 'queued', cost: null });
    const waiting = receipt.outcome({ timeout: '1h' });
    await whatsApp.cancel(receipt.id);
    expect((await waiting).status).toBe('cancelled');
  });

  it('a template by name that the option does not have is refused with the remedy', async () => {
    const to = await optedIn();
    const named = { to, template: 'order_updat', language: 'en', params: ['Ade', '17'] };
    await expect(whatsApp.sendTemplate(named)).rejects.toMatchObject({
      code: 'invalid_field',
      fields: [{ path: 'template', message: expect.stringContaining("'open'") }],
    });
    await expect(
      app
        .get(MessagingService)
        .channel('whatsapp')
        .send({
          to,
          content: { kind: 'template', template: '__proto__', language: 'en' },
        }),
    ).rejects.toMatchObject({ fields: [{ path: 'template' }] });
    const defined = defineTemplates({ elsewhere: { language: 'en', params: 0 } }).elsewhere;
    const { id } = await whatsApp.sendTemplate({ to, template: defined });
    expect((await whatsApp.batch(id)).content).toMatchObject({ template: 'elsewhere' });
  });

  it('a recipient without opt-in is refused and a text needs an open window', async () => {
    const stranger = number();
    await expect(whatsApp.sendTemplate(update(stranger))).rejects.toMatchObject({
      code: 'opt_in_required',
    });
    const to = await optedIn();
    await expect(whatsApp.sendText({ to, text: 'Hi' })).rejects.toMatchObject({
      code: 'window_closed',
    });
    await contacts.recordInbound(to, { sender: FROM });
    const receipt = await whatsApp.sendText({ to, text: 'Hi' });
    expect(await receipt.outcome()).toMatchObject({ category: 'service', cost: '0' });
    await expect(
      whatsApp.sendText({ from: '2348000000002', to, text: 'Hi' }),
    ).rejects.toMatchObject({ code: 'window_closed' });
  });

  it("a WhatsApp send commits and rolls back with the caller's transaction", async () => {
    const messaging = app.get(MessagingService);
    const to = await optedIn();
    let rolledBack = '';
    await expect(
      messaging.transaction(async (manager) => {
        rolledBack = (await whatsApp.sendTemplate(update(to), { manager })).id;
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await expect(whatsApp.message(`${rolledBack}-0`)).rejects.toBeInstanceOf(MessageNotFoundError);
    const receipt = await messaging.transaction((manager) =>
      whatsApp.sendTemplate(update(to), { manager }),
    );
    expect((await receipt.outcome()).providerId).toMatch(/^wamid\./);
  });

  it('the same key gives the same message and outcome', async () => {
    const to = await optedIn();
    const first = await whatsApp.sendTemplate(update(to), { idempotencyKey: 'w1' });
    const again = await whatsApp.sendTemplate(update(to), { idempotencyKey: 'w1' });
    expect(again).toMatchObject({ id: first.id, replayed: true });
    expect((await again.outcome()).providerId).toBe((await first.outcome()).providerId);
    await expect(
      whatsApp.sendText({ to, text: 'other' }, { idempotencyKey: 'w1' }),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/window_closed|idempotency_key_reused/),
    });
  });

  it('estimate() gives the price and sends nothing', async () => {
    const before = (await whatsApp.batches()).data.length;
    expect(await whatsApp.estimate(templates.sale)).toEqual({
      category: 'marketing',
      cost: '51.6',
      currency: 'NGN',
    });
    expect(await whatsApp.estimate({ template: 'order_update' })).toMatchObject({ cost: '6.7' });
    expect(await whatsApp.estimate({ text: 'Hi' })).toMatchObject({
      category: 'service',
      cost: '0',
    });
    expect(await whatsApp.estimate({ template: 'unknown' })).toEqual({
      category: null,
      cost: null,
      currency: null,
    });
    const sms = app.get(SmsService);
    expect(await sms.estimate(`${'a'.repeat(160)}€`)).toEqual({
      encoding: 'GSM-7',
      parts: 2,
      units: 162,
      ucs2Characters: [],
      cost: '8.50',
      currency: 'NGN',
    });
    expect(await sms.estimate('dúndún 🥁')).toMatchObject({
      parts: 1,
      ucs2Characters: ['ú', '🥁'],
    });
    expect((await whatsApp.batches()).data).toHaveLength(before);
  });

  it('wrong WhatsApp input names its field and stores nothing', async () => {
    const before = (await whatsApp.batches()).data.length;
    const wrong = whatsApp.sendTemplate({
      from: 'ACME',
      to: 'nobody',
      template: 'order_update',
      language: '??',
      params: { name: 'Ade', number: '17' },
    });
    await expect(wrong).rejects.toMatchObject({
      fields: ['to', 'from', 'language', 'params.number', 'params.order'].map((path) =>
        expect.objectContaining({ path }),
      ),
    });
    await expect(whatsApp.sendText({ to: number(), text: '' })).rejects.toThrow(/^text: /);
    expect((await whatsApp.batches()).data).toHaveLength(before);
  });
});
