import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { WhatsAppCloudServer } from '../../support/whatsapp-cloud-server.js';
import { TestGateway } from './test-gateway.js';

const HOOK = '/messaging/delivery-reports/whatsapp-cloud';
const OURS = '2348000000001';
const PERSON = '2348012345678';
const ID = '1013859600285441';
const BYTES = Buffer.from([0xff, 0xd8, 0xff, 0, 13, 10, 0xd9]);

/** As an app reads it. */
interface Received {
  readonly reference_id: string;
  readonly message_id: string;
  readonly content: {
    readonly type: string;
    readonly media?: readonly { readonly path: string }[];
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

describeOneDatabase('contents of inbound messages of a gateway', (database) => {
  let cloud: WhatsAppCloudServer;
  let gateway: TestGateway;
  let receiver: Receiver;
  let account: CreatedAccount;
  let other: CreatedAccount;
  let written = 0;

  beforeAll(async () => {
    cloud = await WhatsAppCloudServer.start();
    gateway = await new TestGateway({
      DATABASE_URL: database.url,
      WHATSAPP_CARRIER: 'whatsapp-cloud',
      WHATSAPP_CLOUD_TOKEN: cloud.token,
      WHATSAPP_CLOUD_APP_SECRET: cloud.appSecret,
      WHATSAPP_CLOUD_VERIFY_TOKEN: cloud.verifyToken,
      WHATSAPP_CLOUD_URL: cloud.url,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    }).start();
    account = await gateway.account();
    other = await gateway.account('other');
    await gateway.senders.addNumber(account.accountId, OURS);
    receiver = await Receiver.start();
    const webhooks = gateway.running.app.get(WebhookEndpointsService, { strict: false });
    await webhooks.set(account.accountId, receiver.url);
  });
  afterAll(async () => {
    await gateway?.destroy();
    await receiver?.close();
    await cloud.close();
  });

  /** A person writes. @returns the data of the callback */
  async function write(message: object): Promise<Received> {
    const id = `wamid.${written++}`;
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const value = {
      metadata: { display_phone_number: `+${OURS}`, phone_number_id: cloud.phoneNumberId },
      contacts: [{ wa_id: PERSON, profile: { name: 'Ada ✨' } }],
      messages: [{ from: PERSON, id, timestamp, ...message }],
    };
    const taken = await fetch(gateway.url + HOOK, { method: 'POST', ...cloud.webhook(value) });
    expect(taken.status).toBe(204);
    const found = () =>
      receiver.received
        .map(({ body }) => JSON.parse(body) as { type: string; data: Received })
        .find(({ data }) => data.message_id === id);
    await eventually(async () => expect(found()).toBeDefined());
    expect(found()?.type).toBe('whatsapp.message_received');
    return found()!.data;
  }
  const image = (id = ID) => ({
    type: 'image',
    image: { id, mime_type: 'image/jpeg', caption: 'The meter' },
  });
  const read = (path: string, token = account.apiToken) => gateway.call('GET', path, { token });
  const download = (path: string, token = account.apiKey) =>
    fetch(gateway.url + path, { headers: { authorization: `Bearer ${token}` } });
  const errorOf = async (answer: Response) => {
    const { error } = (await answer.json()) as { error: { code: string } };
    return [answer.status, error.code];
  };

  it('a callback has the content, the name and the answered message beside the text', async () => {
    const data = await write({ ...image(), context: { from: OURS, id: 'wamid.sent' } });
    const path = `/whatsapp/ng/v1/inbound/${data.reference_id}/media/0`;
    expect(data).toEqual({
      reference_id: expect.stringMatching(/^[\da-f-]{36}$/),
      message_id: expect.any(String),
      from: PERSON,
      bsuid: null,
      to: OURS,
      text: 'The meter',
      content: {
        type: 'media',
        media: [{ type: 'image', content_type: 'image/jpeg', filename: null, size: null, path }],
      },
      profile_name: 'Ada ✨',
      replies_to: 'wamid.sent',
      received_at: expect.any(String),
    });
    const place = { latitude: 6.45, longitude: 3.39, name: 'Shop' };
    const located = await write({ type: 'location', location: place });
    expect(located.content).toEqual({
      type: 'location',
      location: { ...place, address: null, url: null },
    });
    const pressed = await write({ type: 'button', button: { text: 'Yes', payload: 'yes:17' } });
    expect(pressed).toMatchObject({
      text: 'Yes',
      content: { type: 'button', button: { title: 'Yes', payload: 'yes:17' } },
      replies_to: null,
    });
    const text = await write({ type: 'text', text: { body: 'Hi' } });
    expect(text).toMatchObject({ text: 'Hi', content: { type: 'text' } });
  });

  it('the message is read with the API token and the key, and by no other account', async () => {
    const data = await write(image());
    const id = data.reference_id;
    const expected = { ...data, channel: 'whatsapp' };
    expect(await read(`/ng/v1/inbound/${id}`)).toMatchObject({ status: 200, body: expected });
    const byKey = await read(`/whatsapp/ng/v1/inbound/${id.toUpperCase()}`, account.apiKey);
    expect(byKey).toMatchObject({ status: 200, body: expected });
    const missing = { status: 404, body: { error: { code: 'not_found' } } };
    expect(await read(`/ng/v1/inbound/${id}`, other.apiToken)).toMatchObject(missing);
    expect(await read('/ng/v1/inbound/x')).toMatchObject(missing);
    const writer = await gateway.accounts.createKey(account.accountId, ['whatsapp:send']);
    expect(await read(`/whatsapp/ng/v1/inbound/${id}`, writer.apiKey)).toMatchObject({
      status: 403,
    });
  });

  it('every kind of content is answered as the document says', async () => {
    const answers = [
      { type: 'contacts', contacts: [{ name: { formatted_name: 'Ada' }, phones: [] }] },
      { type: 'reaction', reaction: { message_id: 'wamid.sent', emoji: '👍' } },
      { type: 'interactive', interactive: { list_reply: { id: 'r1', title: 'Small' } } },
      {
        type: 'interactive',
        interactive: { nfm_reply: { name: 'flow', response_json: '{"size":"M"}' } },
      },
      { type: 'order', order: { catalog_id: '1' } },
    ];
    for (const message of answers) {
      const { reference_id, content } = await write(message);
      const answer = await read(`/ng/v1/inbound/${reference_id}`);
      expect(answer).toMatchObject({ status: 200, body: { content } });
    }
  });

  it('a file is fetched from Meta on demand, and passed on as a download', async () => {
    cloud.files.set(ID, { type: 'image/jpeg', bytes: BYTES });
    const asked = cloud.requests.length;
    const { content } = await write(image());
    expect(cloud.requests.length).toBe(asked);
    const path = String(content.media?.[0]?.path);
    const answer = await download(path);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(BYTES);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-disposition': expect.stringMatching(/^attachment; /),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    const byToken = await download(path.replace('/whatsapp', ''), account.apiToken);
    expect(Buffer.from(await byToken.arrayBuffer())).toEqual(BYTES);
    expect(await errorOf(await download(path, other.apiKey))).toEqual([404, 'not_found']);
    expect(await errorOf(await download(path.replace(/0$/, '1')))).toEqual([404, 'not_found']);
    expect(await errorOf(await download(path.replace(/0$/, 'x')))).toEqual([404, 'not_found']);
    expect((await fetch(gateway.url + path)).status).toBe(401);
  });

  it('a file that Meta has no longer is 410, and one that fails 503', async () => {
    const path = async (id: string) => String((await write(image(id))).content.media?.[0]?.path);
    const gone = await download(await path('99999'));
    expect(await errorOf(gone)).toEqual([410, 'media_expired']);
    const there = await path(ID);
    cloud.answer((_request, response) => void response.writeHead(500).end('{}'));
    expect(await errorOf(await download(there))).toEqual([503, 'unavailable']);
    cloud.answer(undefined);
    const text = await write({ type: 'text', text: { body: 'Hi' } });
    const none = await download(`/whatsapp/ng/v1/inbound/${text.reference_id}/media/0`);
    expect(await errorOf(none)).toEqual([404, 'not_found']);
    expect(gateway.log.join('')).not.toContain(cloud.token);
  });

  it('a long content is cut from the callback, and read whole', async () => {
    const order = { text: 'x'.repeat(9_000) };
    const { content, reference_id } = await write({ type: 'order', order });
    expect(content).toEqual({ type: 'other', truncated: true });
    const whole = await read(`/ng/v1/inbound/${reference_id}`);
    expect(whole.body['content']).toMatchObject({ type: 'other', other: { raw: { order } } });
  });
});
