import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { ContactsService, PolicyError, WhatsAppService } from '@dundun/messaging';
import { whatsappCloud } from '@dundun/messaging/whatsapp-cloud';
import { ContactStore } from '../../../libs/messaging/src/contacts/contact-store.js';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { NumberLearner } from '../../../libs/messaging/src/contacts/number-learner.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { WhatsAppCloudServer } from '../../support/whatsapp-cloud-server.js';
import { bootApp } from './policy-app.js';

const OURS = '2348000000001';
const CONSENT = { channel: 'whatsapp', source: 'web form' } as const;

describeEachDatabase('numbers that the platform answers', (database) => {
  let app: TestingModule;
  let cloud: WhatsAppCloudServer;
  let contacts: ContactsService;
  let whatsApp: WhatsAppService;
  let next = 0;

  beforeAll(async () => {
    cloud = await WhatsAppCloudServer.start();
    const { url: baseUrl, token, phoneNumberId } = cloud;
    app = await bootApp(database.options(), {
      transport: whatsappCloud({ baseUrl, token, phoneNumberId }),
      policy: { frequencyCap: { marketing: { max: 2, per: '24h' } } },
      whatsapp: { templates: 'open', from: OURS },
      inbound: { tenant: () => String(next) },
    });
    contacts = app.get(ContactsService);
    whatsApp = app.get(WhatsAppService);
  });
  afterAll(async () => {
    await app.close();
    await cloud.close();
  });

  const options = () => ({ tenant: String(next) });
  /** Two numbers of a country without rules, in a tenant of their own. */
  const pair = () => {
    next++;
    const number = `2348011${String(100_000 + next)}`;
    const waId = `2348099${String(100_000 + next)}`;
    cloud.knownAs.set(number, waId);
    return [number, waId] as const;
  };
  const received = (from: string, text: string) =>
    app.get(InboundRecorder).record(
      [
        {
          messageId: `wamid.${from}.${next}.${text}`,
          channel: 'whatsapp',
          from,
          bsuid: null,
          to: OURS,
          text,
          sentAt: null,
        },
      ],
      { transport: 'meta' },
    );
  const optIn = (number: string, ago = 60_000) =>
    contacts.optIn(number, { ...CONSENT, ...options(), at: new Date(Date.now() - ago) });
  const template = (to: string, category: 'utility' | 'marketing' = 'utility') =>
    whatsApp.sendTemplate(
      { to, template: 'order_ready', language: 'en', params: ['Ada'], category },
      options(),
    );
  const text = (to: string) => whatsApp.sendText({ to, text: 'Hi' }, options());
  const addressesOf = async (number: string) =>
    (await contacts.find(number, options()))?.addresses.map(({ value }) => value);
  /** Sends to the number, and waits until its other number is learnt. */
  const teach = async (number: string, waId: string) => {
    const sent = await template(number);
    await eventually(async () => expect(await addressesOf(number)).toEqual([number, waId]));
    return sent;
  };
  const settled = (id: string) =>
    eventually(async () =>
      expect((await whatsApp.batch(id, options())).counts).toEqual({ sent: 1 }),
    );

  it('a reply from the answered number opens the window, and its STOP stops the other', async () => {
    const [number, waId] = pair();
    await optIn(number);
    await teach(number, waId);
    await expect(text(number)).rejects.toMatchObject({ code: 'window_closed' });
    await received(waId, 'Hello');
    await expect(text(number)).resolves.toMatchObject({ recipients: 1 });
    await received(waId, 'STOP');
    for (const to of [number, waId]) await expect(template(to)).rejects.toThrow(PolicyError);
    expect(await contacts.find(waId, options())).toMatchObject({
      phone: number,
      consents: { whatsapp: { state: 'opted_out', source: 'keyword' } },
    });
  });

  it('a refusal by the number that the app wrote counts for the answered number', async () => {
    const [number, waId] = pair();
    await optIn(number);
    await teach(number, waId);
    await contacts.optOut(number, { ...CONSENT, ...options() });
    await expect(template(waId)).rejects.toThrow(PolicyError);
  });

  it.each([
    ['before', 120_000, 60_000],
    ['after', 60_000, 120_000],
  ])('a refusal of the answered number %s the consent stays', async (_when, refused, consented) => {
    const [number, waId] = pair();
    const at = new Date(Date.now() - refused);
    await contacts.optOut(waId, { ...CONSENT, ...options(), at });
    await optIn(number, consented);
    await teach(number, waId);
    for (const to of [number, waId]) await expect(template(to)).rejects.toThrow(PolicyError);
    await contacts.optIn(number, { ...CONSENT, ...options() });
    await settled((await template(number)).id);
    expect(await contacts.find(waId, options())).toMatchObject({
      consents: { whatsapp: { state: 'opted_in' } },
    });
  });

  it('a refusal of marketing stays beside a younger consent for the channel', async () => {
    const [number, waId] = pair();
    const at = new Date(Date.now() - 120_000);
    await contacts.optOut(waId, { ...CONSENT, ...options(), category: 'marketing', at });
    await optIn(number);
    await teach(number, waId);
    await expect(template(number, 'marketing')).rejects.toMatchObject({ code: 'opted_out' });
    await settled((await template(number)).id);
  });

  it('a window of the answered number from before is that of the other', async () => {
    const [number, waId] = pair();
    await received(waId, 'Hello');
    await optIn(number);
    await teach(number, waId);
    await settled((await text(number)).id);
    expect(cloud.taken.at(-1)).toMatchObject({ to: number });
  });

  it('a suppression of either number counts for both, and ends for both', async () => {
    const [number, waId] = pair();
    for (const one of [number, waId]) await optIn(one);
    await contacts.suppress(waId, { ...options(), reason: 'complaint', channel: 'whatsapp' });
    await teach(number, waId);
    for (const entry of [waId, number]) {
      await contacts.suppress(entry, { ...options(), reason: 'complaint', channel: 'whatsapp' });
      for (const to of [number, waId])
        await expect(template(to)).rejects.toMatchObject({ code: 'opted_out' });
      const other = entry === waId ? number : waId;
      await contacts.unsuppress(other, { ...options(), channel: 'whatsapp' });
      await settled((await template(number)).id);
      expect((await contacts.suppressions(options())).data).toEqual([]);
    }
  });

  it('the frequency cap counts messages to both numbers', async () => {
    const [number, waId] = pair();
    await optIn(number);
    await teach(number, waId);
    await settled((await template(number, 'marketing')).id);
    await settled((await template(waId, 'marketing')).id);
    for (const to of [number, waId])
      await expect(template(to, 'marketing')).rejects.toMatchObject({ code: 'frequency_capped' });
  });

  it('an erasure of one number erases messages to both, and the refusal stays for both', async () => {
    const [number, waId] = pair();
    await optIn(number);
    const { id } = await teach(number, waId);
    await settled(id);
    const report = {
      submissionId: `${id}-s0`,
      reference: null,
      messageId: null,
      recipient: null,
      status: 'delivered',
      rawStatus: 'delivered',
      errorCode: null,
      providerTime: null,
    };
    await app.get(MessageStore).reports.record([report], { provider: 'whatsapp-cloud' });
    await contacts.suppress(waId, { ...options(), reason: 'complaint' });
    await contacts.optOut(waId, { ...CONSENT, ...options() });
    expect(await contacts.erase(waId, options())).toMatchObject({ messages: 1 });
    expect((await whatsApp.recipients(id, options())).data).toEqual(['']);
    await contacts.optIn([number, waId], { ...CONSENT, ...options() });
    for (const to of [number, waId])
      await expect(template(to)).rejects.toMatchObject({ code: 'opted_out' });
    const rows = await app
      .get(ContactStore)
      .database.all('SELECT address FROM messaging_learnt_number WHERE tenant = ?', [String(next)]);
    expect(rows).toEqual([]);
  });

  it('a person who is erased while a message is in flight does not become a contact again', async () => {
    const [number] = pair();
    await optIn(number);
    let go: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const before = cloud.requests.length;
    cloud.answer(async () => {
      cloud.answer(undefined);
      await gate;
      return false;
    });
    const { id } = await template(number);
    await eventually(async () => expect(cloud.requests.length).toBe(before + 1));
    expect(await contacts.erase(number, options())).toMatchObject({ remaining: 1 });
    const learn = jest.spyOn(app.get(NumberLearner), 'learn');
    go?.();
    await settled(id);
    await eventually(async () => expect(learn).toHaveBeenCalledTimes(1));
    await learn.mock.results[0]?.value;
    learn.mockRestore();
    expect((await contacts.list(options())).data).toEqual([]);
  });

  it('what was kept of an erased number counts for the number that is answered by it', async () => {
    const [number, waId] = pair();
    await contacts.suppress(waId, { ...options(), reason: 'complaint' });
    await contacts.erase(waId, options());
    await optIn(number);
    await teach(number, waId);
    await expect(template(number)).rejects.toMatchObject({ code: 'opted_out' });
  });

  it('a number that is learnt again changes nothing, also after a process died before it', async () => {
    const [number, waId] = pair();
    await optIn(number);
    const write = jest.spyOn(app.get(ContactStore), 'write');
    write.mockRejectedValueOnce(new Error('the process died'));
    await settled((await template(number)).id);
    await eventually(async () => expect(write).toHaveBeenCalledTimes(1));
    write.mockRestore();
    expect(await addressesOf(number)).toEqual([number]);
    await teach(number, waId);
    await contacts.optOut(number, { ...CONSENT, ...options(), at: new Date(Date.now() - 1_000) });
    await contacts.optIn(number, { ...CONSENT, ...options() });
    await settled((await template(number)).id);
    await settled((await template(waId)).id);
    expect(await contacts.find(waId, options())).toMatchObject({
      addresses: [{ value: number }, { value: waId }],
      consents: { whatsapp: { state: 'opted_in' } },
    });
  });

  it('two numbers with one answer are one person, and many with one answer are not', async () => {
    const [number, waId] = pair();
    const others = Array.from({ length: 14 }, (_, n) => `23480220000${10 + n}`);
    for (const one of others) cloud.knownAs.set(one, waId);
    for (const one of [number, ...others]) await optIn(one);
    await teach(number, waId);
    for (const { id } of await Promise.all(others.map((one) => template(one)))) await settled(id);
    await eventually(async () => expect(await addressesOf(number)).toHaveLength(10));
    await contacts.optOut(waId, { ...CONSENT, ...options() });
    await expect(template(number)).rejects.toThrow(PolicyError);
    const alone = await Promise.all(others.map(addressesOf));
    expect(alone.filter((own) => own?.length === 1)).toHaveLength(6);
  });

  it('many numbers are learnt in one transaction, and known ones in none', async () => {
    next++;
    const tenant = String(next);
    const learnt = Array.from({ length: 500 }, (_, n) => {
      return { tenant, recipient: `234804${1_000_000 + n}`, knownAs: `234805${1_000_000 + n}` };
    });
    const write = jest.spyOn(app.get(ContactStore), 'write');
    const learner = app.get(NumberLearner);
    await Promise.all([learner.learn(learnt), learner.learn(learnt)]);
    const calls = write.mock.calls.length;
    await learner.learn(learnt);
    expect([calls, write.mock.calls.length]).toEqual([1, 1]);
    write.mockRestore();
    for (const { recipient, knownAs } of [learnt[0]!, learnt[499]!])
      expect(await addressesOf(knownAs)).toEqual([recipient, knownAs]);
  });

  it('a STOP that comes while the number is learnt counts for both numbers', async () => {
    for (let round = 0; round < 10; round++) {
      const [number, waId] = pair();
      await optIn(number);
      await optIn(waId);
      const learnt = { ...options(), recipient: number, knownAs: waId };
      await Promise.all([
        app.get(NumberLearner).learn([learnt]),
        received(waId, 'STOP'),
        contacts.upsert({ phone: number, name: 'Ada' }, options()),
      ]);
      await expect(template(number)).rejects.toThrow(PolicyError);
      expect(await addressesOf(waId)).toEqual([number, waId]);
    }
  });

  it('an answer with another form of the number, no number, or about another input teaches nothing', async () => {
    next++;
    const mexican = ['525512345678', '5215512345678'] as const;
    cloud.knownAs.set(...mexican);
    const wrong = '2348033000001';
    cloud.knownAs.set(wrong, 'NG.13491208655302741918');
    const other = '2348033000002';
    for (const one of [mexican[0], wrong, other]) await optIn(one);
    for (const one of [mexican[0], wrong]) await settled((await template(one)).id);
    cloud.answer((_request, response) => {
      cloud.answer(undefined);
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          contacts: [{ input: '16315551234', wa_id: '16315551234' }],
          messages: [{ id: 'wamid.static' }],
        }),
      );
    });
    await settled((await template(other)).id);
    const rows = await app
      .get(ContactStore)
      .database.all('SELECT address FROM messaging_learnt_number WHERE tenant = ?', [String(next)]);
    expect(rows).toEqual([]);
    for (const one of [mexican[0], wrong, other]) expect(await addressesOf(one)).toEqual([one]);
  });
});
