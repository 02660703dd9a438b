import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { type FuzzedRequest, fuzzedRequests } from './fuzzed-request.js';
import { TestGateway } from './test-gateway.js';

/** `FUZZ_REQUESTS=10000` is the long form. */
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 1_000);
const CANARY = 'canary-Zq7xW3';
/** The long form sends 10,000 requests. */
const TIMEOUT = 10 * 60_000;

describe('fuzzing of the gateway', () => {
  const gateway = new TestGateway({
    AUTH_FAILURE_LIMIT: 'off',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    LOG_LEVEL: 'trace',
  });
  let account: CreatedAccount;
  const known: Record<string, string> = {};
  const statuses = new Map<number, number>();

  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
    const token = account.apiToken;
    const body = {
      from: 'ACME',
      to: ['2348012345678'],
      body: 'x',
      send_at: '2150-01-01T00:00:00Z',
    };
    const sent = await gateway.call('POST', '/ng/v1/sendsms', { token, body });
    known['referenceId'] = String(sent.body['reference_id']);
    const url = 'http://127.0.0.1:65535/';
    const made = await gateway.call('POST', '/ng/v1/webhooks', { token, body: { url } });
    known['id'] = String(made.body['webhook_id']);
    const group = await gateway.call('POST', '/ng/v1/groups', { token, body: { name: 'Fuzz' } });
    known['groupId'] = String(group.body['id']);
    known['member'] = '2348012345678';
    const contact = await gateway.call('POST', '/whatsapp/ng/v1/contacts', {
      token: account.apiKey,
      body: { phone: '2348012345678', opt_in: true },
    });
    known['contactId'] = String(contact.body['id']);
    known['messageId'] = `${known['referenceId']}-0`;
  });
  afterAll(() => gateway.destroy());

  /** The contract holds every answer to the document. */
  const ask = async (request: FuzzedRequest): Promise<void> => {
    const { method, path, headers, raw } = request;
    const answer = await gateway.call(method, path, {
      ...(request.authorized && {
        token: path.startsWith('/whatsapp') ? account.apiKey : account.apiToken,
      }),
      ...(raw !== undefined && { raw }),
      headers,
    });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    expect(answer.status).toBeLessThan(500);
  };

  it(
    `${REQUESTS} requests generated from the OpenAPI document get no 500 and only documented answers`,
    async () => {
      const { document } = await gateway.contract();
      await fc.assert(fc.asyncProperty(fuzzedRequests(document, known), ask), {
        numRuns: REQUESTS,
        endOnFailure: true,
        ...(process.env['FUZZ_SEED'] !== undefined && { seed: Number(process.env['FUZZ_SEED']) }),
      });
      // A fuzz that only ever met one wall has tested the wall.
      for (const status of [200, 401, 404, 422])
        expect([status, statuses.get(status) ?? 0]).not.toEqual([status, 0]);
    },
    TIMEOUT,
  );

  it('no log or metric contains a secret sent in any field or header', async () => {
    const secret = `${CANARY}-${'x'.repeat(8)}`;
    const token = account.apiToken;
    const body = { from: 'ACME', to: ['2348012345678'], body: `${secret} text` };
    const template = {
      to: '2348012345678',
      message_type: 'template',
      template_name: 'order_update',
      language: 'en',
      params: [],
    };
    const canaries: [string, string, object, Record<string, string>][] = [
      ['POST', '/ng/v1/sendsms', body, { 'idempotency-key': secret }],
      ['POST', '/ng/v1/sendsms', { ...body, from: secret }, {}],
      ['POST', '/ng/v1/sendsms', { ...body, to: [secret] }, {}],
      ['POST', '/ng/v1/sendsms', { ...body, send_at: secret, delivery_report: secret }, {}],
      ['POST', '/ng/v1/sendsms', { ...body, [secret]: secret }, {}],
      ['POST', '/ng/v1/sms/estimate', { body: secret }, {}],
      ['POST', '/ng/v1/groups', { name: secret }, {}],
      ['POST', '/whatsapp/ng/v1/contacts', { bsuid: secret, name: secret, opt_in: true }, {}],
      ['POST', '/whatsapp/ng/v1/contacts', { phone: secret, opt_in: { source: secret } }, {}],
      ['POST', '/whatsapp/ng/v1/sendwhatsapp', { ...template, params: [secret, secret] }, {}],
      ['POST', '/whatsapp/ng/v1/sendwhatsapp', { ...template, template_name: secret }, {}],
      ['POST', '/whatsapp/ng/v1/sendwhatsapp', { ...template, [secret]: secret }, {}],
      ['POST', `/ng/v1/groups/${known['groupId']}/members`, { members: [secret] }, {}],
      ['POST', `/ng/v1/groups/${secret}/members`, { members: ['2348012345678'] }, {}],
      ['POST', '/ng/v1/webhooks', { url: `http://user:${secret}@127.0.0.1/${secret}` }, {}],
      ['POST', '/ng/v1/webhooks', { url: `http://127.0.0.1:65535/${secret}?k=${secret}` }, {}],
      ['POST', `/ng/v1/webhooks/${secret}/redeliver`, { delivery_id: secret }, {}],
    ];
    for (const [method, path, sent, headers] of canaries)
      await gateway.call(method, path, {
        token: path.startsWith('/whatsapp') ? account.apiKey : token,
        body: sent,
        headers,
      });
    for (const path of [`/ng/v1/sms/${secret}`, `/ng/v1/sms?cursor=${secret}`, `/${secret}`])
      await gateway.call('GET', path, { token });
    for (const name of [
      'authorization',
      'cookie',
      'user-agent',
      'referer',
      'x-request-id',
      'x-key',
    ])
      await gateway.call('GET', '/ng/v1/sms', { token, headers: { [name]: `Bearer ${secret}` } });
    await gateway.call('POST', '/ng/v1/sendsms', { token, raw: `{"body":"${secret}` });
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).not.toContain(CANARY);
    const log = gateway.log.join('');
    expect(log).toContain('"msg":"request"');
    expect(log).not.toContain(CANARY);
    expect(log).not.toMatch(/tok_[0-9A-Za-z]|2348012345678/);
  });
});
