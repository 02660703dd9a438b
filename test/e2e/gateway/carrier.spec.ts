import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { tmpdir } from 'node:os';
import { Webhook } from 'standardwebhooks';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { eventually } from '../../support/eventually.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

/** The carrier is a gateway too: both sides of the interface are ours, and they must agree. */
describe('a gateway with an http carrier', () => {
  const carrier = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let gateway: TestGateway;
  let account: CreatedAccount;
  let ours: CreatedAccount;
  let secret: string;

  beforeAll(async () => {
    await carrier.start();
    ours = await carrier.account('gateway');
    const webhooks = carrier.running.app.get(WebhookEndpointsService, { strict: false });
    // The secret is known before our address is; it stays when the URL is set.
    ({ secret } = await webhooks.set(ours.accountId, 'http://127.0.0.1:65535/'));
    gateway = new TestGateway({
      CARRIER: 'http',
      CARRIER_URL: carrier.url,
      CARRIER_TOKEN: ours.apiToken,
      CARRIER_CALLBACK_SECRET: secret,
      LOG_LEVEL: 'info',
    });
    await gateway.start();
    await webhooks.set(ours.accountId, `${gateway.url}/messaging/delivery-reports`);
    account = await gateway.account();
  });
  afterAll(async () => {
    await gateway?.destroy();
    await carrier.destroy();
  });

  it('the gateway sends through an http carrier and takes its delivery reports', async () => {
    const sent = await gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: {
        from: 'ACME',
        to: ['2348012345678', '2348012349901', '2348012349902'],
        body: 'Hello',
        delivery_report: 'yes',
      },
    });
    expect(sent.status).toBe(200);
    const path = `/ng/v1/sms/${String(sent.body['reference_id'])}`;
    await eventually(async () => {
      const { body } = await gateway.call('GET', path, { token: account.apiToken });
      expect(body['counts']).toEqual({ delivered: 1, undelivered: 1, expired: 1 });
    });
    const there = await carrier.call('GET', '/ng/v1/sms', { token: ours.apiToken });
    const batches = there.body['data'] as { recipients_processed: number }[];
    expect(batches.reduce((sum, batch) => sum + batch.recipients_processed, 0)).toBe(3);
  });

  it('an unsigned delivery report is refused', async () => {
    const forged = await gateway.call('POST', '/messaging/delivery-reports', {
      body: { type: 'sms.delivery_report', data: { reference_id: 'x', status: 'delivered' } },
    });
    expect(forged.status).toBe(401);
    expect(forged.body).toMatchObject({ error: { code: 'unauthorized' } });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'a signed delivery report of the type %s is 415, which names JSON',
    async (type) => {
      const raw = '{"data":{"reference_id":"x","status":"delivered"}}';
      const at = new Date();
      const answer = await gateway.call('POST', '/messaging/delivery-reports', {
        raw,
        headers: {
          'content-type': type,
          'webhook-id': 'msg_1',
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': new Webhook(secret).sign('msg_1', at, raw),
        },
      });
      expect(answer).toMatchObject({
        status: 415,
        body: {
          error: {
            code: 'unsupported_media_type',
            message: expect.stringContaining('application/json'),
          },
        },
      });
    },
  );

  it('dundun reports unmatched lists a report that names no message, without its number', async () => {
    const data = {
      reference_id: 'another-carrier-7',
      message_id: 'msg-7',
      to: '2348012345678',
      status: 'delivered',
      smsc_timestamp: '2026-01-01T00:00:00Z',
    };
    const raw = JSON.stringify({ type: 'sms.delivery_report', data });
    const at = new Date();
    const headers = {
      'content-type': 'application/json',
      'webhook-id': 'msg_unmatched',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign('msg_unmatched', at, raw),
    };
    const path = '/messaging/delivery-reports';
    expect((await gateway.call('POST', path, { raw, headers })).status).toBe(204);
    const unmatched = async (...options: string[]) => {
      const settings = { NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl };
      const args = ['reports', 'unmatched', ...options, '--json'];
      const { stdout } = await commandLine(args, settings, tmpdir());
      expect(stdout).not.toContain(data.to);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    expect(await unmatched()).toEqual({
      reports: [
        {
          provider: 'http',
          reference: data.reference_id,
          message_id: data.message_id,
          status: 'delivered',
          raw_status: 'delivered',
          error_code: null,
          provider_time: '2026-01-01T00:00:00.000Z',
          received_at: expect.any(String),
        },
      ],
      counts: { http: 1 },
      next_cursor: null,
    });
    expect(await unmatched('--provider', 'other')).toMatchObject({ reports: [] });
  });

  it("readiness stays green and names the carrier's refusal of the credential", async () => {
    await carrier.accounts.suspend(ours.accountId);
    await gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to: ['2348012345678'], body: 'Waits' },
    });
    await eventually(async () => {
      const { status, body } = await gateway.call('GET', '/health/ready');
      expect(status).toBe(200);
      expect(body).toMatchObject({
        status: 'degraded',
        details: { lanes: { status: 'degraded', busy: 1 } },
      });
    });
    expect(gateway.log.join('')).not.toMatch(/tok_[0-9A-Za-z]/);
  });
});

describe('a gateway with an http carrier of email', () => {
  const carrier = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let gateway: TestGateway;
  let customer: Receiver;
  let theirs: CreatedAccount;
  let ours: CreatedAccount;
  let hook: string;

  beforeAll(async () => {
    await carrier.start();
    theirs = carrier.running.demo as CreatedAccount;
    const webhooks = carrier.running.app.get(WebhookEndpointsService, { strict: false });
    const { secret } = await webhooks.set(theirs.accountId, 'http://127.0.0.1:65535/');
    gateway = new TestGateway({
      EMAIL_CARRIER: 'http',
      CARRIER_URL: carrier.url,
      CARRIER_KEY: theirs.apiKey,
      CARRIER_CALLBACK_SECRET: secret,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    });
    await gateway.start();
    hook = `${gateway.url}/messaging/delivery-reports/http`;
    await webhooks.set(theirs.accountId, hook);
    ours = gateway.running.demo as CreatedAccount;
    customer = await Receiver.start();
    await gateway.call('POST', '/email/ng/v1/webhooks', {
      token: ours.apiKey,
      body: { url: customer.url },
    });
  });
  afterAll(async () => {
    await customer?.close();
    await gateway?.destroy();
    await carrier.destroy();
  });

  it('email leaves by the other carrier and SMS by the simulator, and the carrier callbacks are passed on', async () => {
    const outcomes = {
      ada: 'delivered',
      delayed: 'delivered',
      bounced: 'bounced',
      late: 'delivered',
    };
    const sent = await gateway.call('POST', '/email/ng/v1/messages', {
      token: ours.apiKey,
      body: {
        from: 'Shop <hello@demo.test>',
        recipients: Object.keys(outcomes).map((name) => ({ email: `${name}@example.com`, name })),
        subject: 'Hello {{name}}',
        text: 'Hello',
        tags: ['order'],
        metadata: { order: '7' },
      },
    });
    expect(sent.status).toBe(200);
    const id = String(sent.body['reference_id']);
    await eventually(async () => {
      const { body } = await gateway.call('GET', `/email/ng/v1/messages/${id}`, {
        token: ours.apiKey,
      });
      expect(body['counts']).toEqual({ delivered: 3, bounced: 1 });
    });
    const told = () =>
      customer.received.map(
        ({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> },
      );
    await eventually(async () =>
      expect(told().map(({ type }) => type)).toEqual(
        expect.arrayContaining(['email.delivered', 'email.delayed', 'email.bounced']),
      ),
    );
    expect(told().find(({ type }) => type === 'email.bounced')?.data).toMatchObject({
      reference_id: id,
      to: 'bounced@example.com',
      error_code: '5.1.1',
      tags: ['order'],
      metadata: { order: '7' },
      bounce: { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1' },
    });
    const there = await carrier.call('GET', '/email/ng/v1/messages', { token: theirs.apiKey });
    expect(there.body['data']).toMatchObject(
      Object.keys(outcomes).map(() => ({ from: 'hello@demo.test', tags: [] })),
    );
    const sms = await gateway.call('POST', '/ng/v1/sendsms', {
      token: ours.apiToken,
      body: { from: 'ACME', to: ['2348012345678'], body: 'Hello' },
    });
    expect(sms.status).toBe(200);
    const smsThere = await carrier.call('GET', '/ng/v1/sms', { token: theirs.apiToken });
    expect(smsThere.body['data']).toEqual([]);
  });

  it('a callback without a valid signature is refused', async () => {
    const forged = await fetch(hook, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'email.complained', data: { reference_id: 'x', status: 'x' } }),
    });
    expect(forged.status).toBe(401);
    expect((await gateway.call('POST', '/messaging/delivery-reports', { body: {} })).status).toBe(
      404,
    );
  });
});

describe('a gateway without the carrier’s callback secret', () => {
  const gateway = new TestGateway();
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  it('without CARRIER_CALLBACK_SECRET the callback path is not served', async () => {
    const answer = await gateway.call('POST', '/messaging/delivery-reports', { body: {} });
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
});
