import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

/** The carrier is a gateway too: both sides of the interface are ours, and they must agree. */
describe('a gateway whose carrier is another one', () => {
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

describe('a gateway without the carrier’s callback secret', () => {
  const gateway = new TestGateway();
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  it('without CARRIER_CALLBACK_SECRET the callback path is not served', async () => {
    const answer = await gateway.call('POST', '/messaging/delivery-reports', { body: {} });
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
});
