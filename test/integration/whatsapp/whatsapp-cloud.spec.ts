import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  ContactsService,
  type MessageCategory,
  MessagingModule,
  WhatsAppService,
} from '@dundun/messaging';
import {
  whatsappCloud,
  whatsappCloudParser,
  whatsappCloudSignature,
} from '@dundun/messaging/whatsapp-cloud';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { refuse, WhatsAppCloudServer } from '../../support/whatsapp-cloud-server.js';

const OUR_NUMBER = '2348000000001';
const RECIPIENT = '2348012345678';
const CONSENT = { channel: 'whatsapp', source: 'test' };

describeOneDatabase('the WhatsApp Cloud API', (database) => {
  let app: NestFastifyApplication;
  let cloud: WhatsAppCloudServer;
  let whatsapp: WhatsAppService;
  let contacts: ContactsService;
  let url: string;

  beforeAll(async () => {
    cloud = await WhatsAppCloudServer.start();
    const { url: baseUrl, token, phoneNumberId, appSecret, verifyToken } = cloud;
    const module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          providers: { meta: whatsappCloud({ baseUrl, token, phoneNumberId }) },
          whatsapp: { from: OUR_NUMBER, templates: 'open' },
          rateCard: { currency: 'USD', whatsapp: { utility: '0.0100', service: '0.0020' } },
          callbackPath: 'dlr',
          callbacks: {
            providers: {
              meta: {
                parser: whatsappCloudParser(),
                verifier: whatsappCloudSignature({ appSecret, verifyToken }),
              },
            },
          },
        }),
      ],
    }).compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
      rawBody: true,
    });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/dlr/meta`;
    whatsapp = app.get(WhatsAppService);
    contacts = app.get(ContactsService);
    await contacts.optIn(RECIPIENT, CONSENT);
  });
  afterAll(async () => {
    await app.close();
    await cloud.close();
  });

  const webhook = async (value: object) =>
    (await fetch(url, { method: 'POST', ...cloud.webhook(value) })).status;
  const seconds = () => String(Math.floor(Date.now() / 1_000));
  const statusOf = (id: string, status: string, more: object = {}) => ({
    statuses: [
      {
        id: `wamid.${id}`,
        status,
        timestamp: seconds(),
        recipient_id: RECIPIENT,
        biz_opaque_callback_data: `${id}-s0`,
        ...more,
      },
    ],
  });
  const sendTemplate = async (category: MessageCategory = 'utility', to = RECIPIENT) => {
    const template = { template: 'order_ready', language: 'en', params: ['Ada'] };
    return (await whatsapp.sendTemplate({ to, ...template, category })).id;
  };
  const receive = async (from: object, id: string) => {
    const metadata = { display_phone_number: OUR_NUMBER, phone_number_id: cloud.phoneNumberId };
    const message = { ...from, id, timestamp: seconds(), type: 'text', text: { body: 'Hi' } };
    expect(await webhook({ metadata, messages: [message] })).toBe(204);
  };
  const refuseNext = (code: number) =>
    cloud.answer((request, response) => {
      cloud.answer(undefined);
      refuse(response, 400, code, 'refused');
    });
  const counts = async (id: string) => (await whatsapp.batch(id)).counts;

  it('a message whose answer is lost is posted once, and settled by its statuses in any order', async () => {
    const before = cloud.taken.length;
    cloud.loseNextAnswer();
    const id = await sendTemplate();
    await eventually(async () => expect(await counts(id)).toEqual({ unknown: 1 }));
    expect(await webhook(statusOf(id, 'delivered'))).toBe(204);
    expect(await webhook(statusOf(id, 'sent'))).toBe(204);
    expect(await webhook(statusOf(id, 'delivered'))).toBe(204);
    expect(await counts(id)).toEqual({ delivered: 1 });
    // Meta's id of a person may differ from the number that was written to.
    expect(await webhook(statusOf(id, 'read', { recipient_id: '23480123456' }))).toBe(204);
    expect(await counts(id)).toEqual({ read: 1 });
    expect(cloud.taken.length - before).toBe(1);
  });

  it('a message from a customer opens the window for texts', async () => {
    await expect(whatsapp.sendText({ to: RECIPIENT, text: 'Hello' })).rejects.toMatchObject({
      code: 'window_closed',
    });
    await receive({ from: RECIPIENT }, 'wamid.in');
    const { id } = await whatsapp.sendText({ to: RECIPIENT, text: 'Hello' });
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
    expect(cloud.taken.at(-1)).toMatchObject({ type: 'text', text: { body: 'Hello' } });
  });

  it('media leaves inside the window, by link or upload, and not outside', async () => {
    const to = '2348012345679';
    await contacts.optIn(to, CONSENT);
    const image = { to, type: 'image', link: 'https://cdn.example.com/a.png' } as const;
    await expect(whatsapp.sendMedia(image)).rejects.toMatchObject({ code: 'window_closed' });
    await receive({ from: to }, 'wamid.media');
    const { id } = await whatsapp.sendMedia({ ...image, caption: 'Here' });
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
    expect(cloud.taken.at(-1)).toMatchObject({ image: { link: image.link, caption: 'Here' } });
    const content = Buffer.from('%PDF-1.7');
    const mediaId = await whatsapp.uploadMedia({ content, contentType: 'application/pdf' });
    const sent = await whatsapp.sendMedia({ to, type: 'document', mediaId, filename: 'a.pdf' });
    await eventually(async () => expect(await counts(sent.id)).toEqual({ sent: 1 }));
    expect(cloud.taken.at(-1)).toMatchObject({ document: { id: mediaId, filename: 'a.pdf' } });
  });

  it('a refusal that the window is closed closes it until the next message', async () => {
    const to = '2348012345680';
    await contacts.optIn(to, CONSENT);
    const isClosed = () =>
      expect(whatsapp.sendText({ to, text: 'Hello' })).rejects.toMatchObject({
        code: 'window_closed',
      });
    await receive({ from: to }, 'wamid.window.1');
    refuseNext(131047);
    const refused = await whatsapp.sendText({ to, text: 'Hello' });
    await eventually(async () => expect(await counts(refused.id)).toEqual({ rejected: 1 }));
    await isClosed();
    await receive({ from: to }, 'wamid.window.2');
    const { id } = await whatsapp.sendText({ to, text: 'Hello' });
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
    expect(await webhook(statusOf(id, 'failed', { errors: [{ code: 131047 }] }))).toBe(204);
    await isClosed();
  });

  it('a refusal under one form of a number closes the window of all its forms', async () => {
    const [to, other] = ['5215587650001', '525587650001'];
    await contacts.optIn(to, CONSENT);
    await receive({ from: other }, 'wamid.window.3');
    refuseNext(131047);
    const { id } = await whatsapp.sendText({ to, text: 'Hello' });
    await eventually(async () => expect(await counts(id)).toEqual({ rejected: 1 }));
    for (const form of [to, other])
      await expect(whatsapp.sendText({ to: form, text: 'Hello' })).rejects.toMatchObject({
        code: 'window_closed',
      });
  });

  it('a person who stopped marketing in WhatsApp gets no marketing until a new opt-in', async () => {
    const to = '2348012345681';
    await contacts.optIn(to, CONSENT);
    refuseNext(131050);
    const id = await sendTemplate('marketing', to);
    await eventually(async () => expect(await counts(id)).toEqual({ rejected: 1 }));
    await expect(sendTemplate('marketing', to)).rejects.toMatchObject({ code: 'opted_out' });
    const other = await sendTemplate('utility', to);
    await eventually(async () => expect(await counts(other)).toEqual({ sent: 1 }));
    await contacts.optIn(to, { ...CONSENT, category: 'marketing' });
    const again = await sendTemplate('marketing', to);
    await eventually(async () => expect(await counts(again)).toEqual({ sent: 1 }));
  });

  it('a person without a number is a contact by the user id, and can be answered by it', async () => {
    const user = 'NG.13491208655302741918';
    await receive({ from_user_id: user }, 'wamid.bsuid');
    const to = `platform:${user}`;
    const contact = await contacts.find({ platform: user });
    expect(contact).toMatchObject({ phone: null, platform: user });
    await contacts.optIn({ platform: user }, CONSENT);
    cloud.loseNextAnswer();
    const { id } = await whatsapp.sendText({ to, text: 'Hello' });
    await eventually(async () => expect(await counts(id)).toEqual({ unknown: 1 }));
    expect(cloud.taken.at(-1)).toMatchObject({ recipient: user });
    const delivered = { recipient_id: undefined, recipient_user_id: user };
    expect(await webhook(statusOf(id, 'delivered', delivered))).toBe(204);
    expect(await counts(id)).toEqual({ delivered: 1 });
  });

  it('a message has the price of its category once a status says whether it is billed', async () => {
    const id = await sendTemplate('utility');
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
    const message = async () => whatsapp.timeline(`${id}-0`);
    expect(await message()).toMatchObject({ cost: null, currency: null });
    const of = (status: string, pricing: object) => webhook(statusOf(id, status, { pricing }));
    expect(await of('sent', { billable: false, category: 'service' })).toBe(204);
    expect(await message()).toMatchObject({ cost: '0.0000', currency: 'USD', category: 'service' });
    expect(await of('delivered', { type: 'regular', category: 'utility' })).toBe(204);
    expect(await message()).toMatchObject({ cost: '0.0100', currency: 'USD', category: 'utility' });
  });

  it("Meta's challenge of the address is answered only for the right token", async () => {
    const ask = (token: string) =>
      fetch(`${url}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`);
    const answer = await ask(cloud.verifyToken);
    expect([answer.status, await answer.text()]).toEqual([200, '1158201444']);
    expect((await ask('another-token-of-16')).status).toBe(401);
  });

  it('a webhook without the signature of the app changes nothing', async () => {
    const id = await sendTemplate();
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
    const forged = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': 'sha256=00' },
      body: JSON.stringify(statusOf(id, 'read')),
    });
    expect(forged.status).toBe(401);
    expect(await counts(id)).toEqual({ sent: 1 });
  });
});
