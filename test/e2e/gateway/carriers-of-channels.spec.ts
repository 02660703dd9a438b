import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import twilio from 'twilio';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { eventually } from '../../support/eventually.js';
import { MailServer } from '../../support/mail-server.js';
import { RecordingServer } from '../../support/recording-server.js';
import { ReloadlyServer } from '../../support/reloadly-server.js';
import { WhatsAppCloudServer } from '../../support/whatsapp-cloud-server.js';
import { TestGateway } from './test-gateway.js';

const ORIGIN = 'https://gateway.example';
const AUTH_TOKEN = 'f'.repeat(32);
const PERSON = '2348012345678';

describe('a gateway whose file has a carrier for each channel', () => {
  const SID = `CA${'1'.repeat(32)}`;
  const calls = new RecordingServer((_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ sid: SID, status: 'queued' }));
  });
  const orders = new ReloadlyServer();
  let relay: MailServer;
  let cloud: WhatsAppCloudServer;
  let directory: string;
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    const url = await orders.start();
    await calls.listen();
    relay = await MailServer.start();
    cloud = await WhatsAppCloudServer.start();
    const carriers = {
      texts: { type: 'simulator' },
      relay: { type: 'smtp', url: relay.url, tls: 'off' },
      calls: {
        type: 'twilio-voice',
        account_sid: `AC${'a1'.repeat(16)}`,
        auth_token: AUTH_TOKEN,
        callback_url: ORIGIN,
        url: calls.url,
      },
      airtime: {
        type: 'reloadly',
        client_id: 'id',
        client_secret: 'right',
        countries: ['NG'],
        url,
        auth_url: url,
      },
      meta: {
        type: 'whatsapp-cloud',
        token: cloud.token,
        app_secret: cloud.appSecret,
        verify_token: cloud.verifyToken,
        url: cloud.url,
      },
    };
    const channels = { sms: 'texts', email: 'relay', voice: 'calls', vas: 'airtime' };
    const routes = Object.entries({ ...channels, whatsapp: 'meta' }).map(([channel, use]) => {
      return { channel, use };
    });
    directory = await mkdtemp(join(tmpdir(), 'dundun-channels-'));
    const file = join(directory, 'carriers.json');
    await writeFile(file, JSON.stringify({ carriers, routes }));
    gateway = await new TestGateway({ CARRIERS_FILE: file }).start();
    account = gateway.running.demo as CreatedAccount;
  });
  afterAll(async () => {
    await gateway?.destroy();
    await Promise.all([calls.close(), orders.stop(), relay.close(), cloud.close()]);
    await rm(directory, { recursive: true });
  });

  const post = async (path: string, token: string, body: object) =>
    (await gateway.call('POST', path, { token, body })).body;

  it('email leaves by the relay, with the signature of its domain', async () => {
    const { error } = await post('/email/ng/v1/messages', account.apiKey, {
      from: 'Shop <hello@demo.test>',
      to: ['ada@example.com'],
      subject: 'Hello',
      text: 'Hello',
    });
    expect(error).toBeUndefined();
    await eventually(async () =>
      expect(relay.accepted.map(({ to }) => to)).toEqual([['ada@example.com']]),
    );
    expect(relay.accepted[0]?.message.toString()).toMatch(/^DKIM-Signature: .*d=demo\.test;/ms);
  });

  it('a call leaves by Twilio, and ends by a callback to the path of its carrier', async () => {
    const sent = await post('/ng/v1/voice/calls', account.apiToken, {
      from: '2348000000001',
      to: [PERSON],
      text: 'Hello',
    });
    const path = `/ng/v1/voice/calls/${String(sent['reference_id'])}`;
    await eventually(async () => expect(calls.requests).toHaveLength(1));
    const address = new URLSearchParams(calls.requests[0]?.body).get('StatusCallback') ?? '';
    expect(address).toMatch(`${ORIGIN}/callbacks/calls?`);
    const read = async () =>
      (await gateway.call('GET', path, { token: account.apiToken })).body['status'];
    await eventually(async () => expect(await read()).toBe('initiated'));
    const fields = { CallSid: SID, To: `+${PERSON}`, CallStatus: 'completed', CallDuration: '7' };
    const answer = await fetch(address.replace(ORIGIN, gateway.url), {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': twilio.getExpectedTwilioSignature(AUTH_TOKEN, address, fields),
      },
      body: new URLSearchParams(fields),
    });
    expect([answer.status, await read()]).toEqual([204, 'completed']);
  });

  it('an order leaves by Reloadly', async () => {
    const { id } = await post('/ng/v1/vas/orders', account.apiToken, {
      to: PERSON,
      product: 'NG-341',
      amount: '100',
      client_reference: randomUUID(),
    });
    await eventually(async () =>
      expect(orders.asked.filter(({ path }) => path === '/topups-async')).toHaveLength(1),
    );
    expect(typeof id).toBe('string');
  });

  it('a WhatsApp message needs a number that is bound to Meta, which verifies the path of its carrier', async () => {
    const send = () =>
      post('/whatsapp/ng/v1/sendwhatsapp', account.apiKey, {
        to: PERSON,
        message_type: 'template',
        template_name: 'order_update',
        language: 'en',
        params: [],
      });
    const message = async () => (await send())['error'];
    expect(await message()).toMatchObject({ message: 'This account has no WhatsApp number' });
    await gateway.senders.addNumber(account.accountId, '2348000000009');
    await eventually(async () =>
      expect(await message()).toMatchObject({
        code: 'sender_not_registered',
        message: expect.stringContaining('not bound to Meta'),
      }),
    );
    const verify = `hub.mode=subscribe&hub.challenge=42&hub.verify_token=${cloud.verifyToken}`;
    const verified = await fetch(`${gateway.url}/callbacks/meta?${verify}`);
    expect([verified.status, await verified.text()]).toEqual([200, '42']);
  });

  it('SMS leaves by the simulator', async () => {
    const sent = await post('/ng/v1/sendsms', account.apiToken, {
      from: 'ACME',
      to: [PERSON],
      body: 'Hello',
    });
    const path = `/ng/v1/sms/${String(sent['reference_id'])}`;
    await eventually(async () =>
      expect((await gateway.call('GET', path, { token: account.apiToken })).body).toMatchObject({
        counts: { delivered: 1 },
      }),
    );
  });
});
