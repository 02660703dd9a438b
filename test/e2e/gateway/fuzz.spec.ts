import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { DnsServer } from '../../support/dns-server.js';
import { FuzzTargets } from './fuzz-targets.js';
import { type FuzzedRequest, fuzzedRequests } from './fuzzed-request.js';
import { TestGateway } from './test-gateway.js';
import { limitTests } from '../../support/time-limit.js';

// One test sends 1,000 requests or more.
limitTests(120);

/** `FUZZ_REQUESTS=100000` is the long form. */
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 1_000);
/** So many reach every operation with a request that it accepts. */
const THOROUGH = 100_000;
const CANARY = 'canary-Zq7xW3';
/** 100,000 requests take half an hour on a loaded machine. */
const TIMEOUT = 90 * 60_000;

describe('fuzzing of the gateway', () => {
  let gateway: TestGateway;
  let dns: DnsServer;
  let account: CreatedAccount;
  let targets: FuzzTargets;
  const statuses = new Map<number, number>();
  const accepted = new Set<string>();

  beforeAll(async () => {
    // This name server has no records.
    dns = await DnsServer.start();
    gateway = await new TestGateway({
      AUTH_FAILURE_LIMIT: 'off',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      LOG_LEVEL: 'trace',
      EMAIL_DNS_SERVERS: dns.address,
    }).start();
    account = gateway.running.demo as CreatedAccount;
    targets = new FuzzTargets(gateway, account);
    await targets.make();
  });
  afterAll(async () => {
    await gateway.destroy();
    await dns.close();
  });

  /** The contract holds every answer to the document. */
  const ask = async (request: FuzzedRequest): Promise<void> => {
    const { operation, method, path, headers, raw } = request;
    const { status } = await gateway.call(method, path, {
      ...(request.authorized && { token: targets.tokenOf(path) }),
      ...(raw !== undefined && { raw }),
      headers,
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status >= 500) throw new Error(`${method} ${path}: ${status}`);
    if (status < 300) accepted.add(operation);
    if (status === 404 || (method === 'DELETE' && status < 300)) await targets.replace(path);
  };

  it(
    `${REQUESTS} requests generated from the OpenAPI document get no 500 and only documented answers`,
    async () => {
      const { document } = await gateway.contract();
      await fc.assert(fc.asyncProperty(fuzzedRequests(document, targets.known), ask), {
        numRuns: REQUESTS,
        endOnFailure: true,
        ...(process.env['FUZZ_SEED'] !== undefined && { seed: Number(process.env['FUZZ_SEED']) }),
      });
      // A run in which every request gets the same refusal would test that refusal alone.
      for (const status of [200, 401, 404, 422])
        expect([status, statuses.get(status) ?? 0]).not.toEqual([status, 0]);
      if (REQUESTS < THOROUGH) return;
      const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      expect(operations.filter((operation) => !accepted.has(operation))).toEqual([]);
    },
    TIMEOUT,
  );

  it('no log or metric contains a secret sent in any field or header', async () => {
    const secret = `${CANARY}-${'x'.repeat(8)}`;
    const group = targets.known('/ng/v1/groups/{groupId}', 'groupId');
    const body = { from: 'ACME', to: ['2348012345678'], body: `${secret} text` };
    const template = {
      to: '2348012345678',
      message_type: 'template',
      template_name: 'order_update',
      language: 'en',
      params: [],
    };
    const email = {
      from: 'hello@demo.test',
      to: ['ada@example.com'],
      subject: 'x',
      text: 'x',
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
      ['POST', `/ng/v1/groups/${group}/members`, { members: [secret] }, {}],
      ['POST', `/ng/v1/groups/${secret}/members`, { members: ['2348012345678'] }, {}],
      ['POST', '/ng/v1/webhooks', { url: `http://user:${secret}@127.0.0.1/${secret}` }, {}],
      ['POST', '/ng/v1/webhooks', { url: `http://127.0.0.1:65535/${secret}?k=${secret}` }, {}],
      ['POST', `/ng/v1/webhooks/${secret}/redeliver`, { delivery_id: secret }, {}],
      [
        'POST',
        '/email/ng/v1/messages',
        { ...email, [secret]: secret },
        { 'idempotency-key': secret },
      ],
      ['POST', '/email/ng/v1/messages', { ...email, from: `${secret}@demo.test` }, {}],
      ['POST', '/email/ng/v1/messages', { ...email, to: [secret] }, {}],
      ['POST', '/email/ng/v1/messages', { ...email, to: [`${secret}@example.com`] }, {}],
      ['POST', '/email/ng/v1/messages', { ...email, subject: secret, text: secret }, {}],
      ['POST', '/email/ng/v1/messages', { ...email, attachments: [{ content: secret }] }, {}],
      ['POST', '/email/ng/v1/messages', { ...email, tags: [secret], metadata: { a: secret } }, {}],
      ['POST', '/email/ng/v1/contacts', { email: `${secret}@example.com`, name: secret }, {}],
      ['POST', '/email/ng/v1/suppressions', { email: `${secret}@example.com` }, {}],
      ['POST', '/email/ng/v1/domains', { name: secret }, {}],
      ['POST', '/email/ng/v1/webhooks', { url: `http://127.0.0.1:65535/${secret}` }, {}],
    ];
    for (const [method, path, sent, headers] of canaries)
      await gateway.call(method, path, {
        token: targets.tokenOf(path),
        body: sent,
        headers,
      });
    for (const path of [
      `/ng/v1/sms/${secret}`,
      `/ng/v1/sms?cursor=${secret}`,
      `/email/ng/v1/contacts/${secret}@example.com`,
      `/email/ng/v1/messages?to=${secret}@example.com`,
      `/${secret}`,
    ])
      await gateway.call('GET', path, { token: targets.tokenOf(path) });
    for (const name of [
      'authorization',
      'cookie',
      'user-agent',
      'referer',
      'x-request-id',
      'x-key',
    ])
      await gateway.call('GET', '/ng/v1/sms', {
        token: account.apiToken,
        headers: { [name]: `Bearer ${secret}` },
      });
    await gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      raw: `{"body":"${secret}`,
    });
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).not.toContain(CANARY);
    const log = gateway.log.join('');
    expect(log).toContain('"msg":"request"');
    expect(log).not.toContain(CANARY);
    expect(log).not.toMatch(/tok_[0-9A-Za-z]|2348012345678|ada@example\.com/);
  });
});
