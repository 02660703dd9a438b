import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { ContractClient } from './contract-client.js';
import { fuzzedRequests } from './fuzzed-request.js';
import { Prism, violationsOf } from './prism.js';
import { type Answered, TestGateway } from './test-gateway.js';

/** It starts processes; a busy machine takes seconds for one. */
jest.setTimeout(120_000);

const REQUESTS = 300;
const SEND = '/ng/v1/sendsms';
const LATER = '2150-01-01T00:00:00Z';
const GOOD = { from: 'ACME', to: ['2348012345678'], body: 'Hello' };

describe('behind Prism’s validating proxy', () => {
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true', AUTH_FAILURE_LIMIT: 'off' });
  let account: CreatedAccount;
  let strict: Prism;
  let telling: Prism;

  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
    strict = await Prism.before(gateway.url, { errors: true });
    telling = await Prism.before(gateway.url, { errors: false });
  });
  afterAll(async () => {
    await strict?.stop();
    await telling?.stop();
    await gateway.destroy();
  });

  it('what a customer does passes with no violation on either side', async () => {
    const client = new ContractClient(strict.url, gateway.url);
    const token = account.apiToken;
    const ask = async (method: string, path: string, body?: object): Promise<Answered> => {
      const answer = await client.call(method, path, { token, ...(body && { body }) });
      // A violation would be answered by Prism in its own form.
      expect([method, path, answer.status, answer.body['type']]).toEqual([
        method,
        path,
        200,
        undefined,
      ]);
      return answer;
    };
    const sent = await ask('POST', SEND, { ...GOOD, delivery_report: 'yes' });
    const id = String(sent.body['reference_id']);
    const later = String(
      (await ask('POST', SEND, { ...GOOD, send_at: LATER })).body['reference_id'],
    );
    await ask('POST', '/ng/v1/sms/estimate', { body: 'Hello' });
    for (const path of ['sms', 'sms?limit=1', `sms/${id}`, `sms/${id}/reports`, 'deliveryreports'])
      await ask('GET', `/ng/v1/${path}`);
    await ask('PATCH', `/ng/v1/sms/${later}`, { send_at: LATER });
    await ask('DELETE', `/ng/v1/sms/${later}`);
    for (const path of ['/health/live', '/health/ready']) await ask('GET', path);
  });

  it('whatever is asked, no answer is other than documented', async () => {
    const token = account.apiToken;
    const sent = await gateway.call('POST', SEND, { token, body: { ...GOOD, send_at: LATER } });
    const url = 'http://127.0.0.1:9/';
    const made = await gateway.call('POST', '/ng/v1/webhooks', { token, body: { url } });
    const known = {
      referenceId: String(sent.body['reference_id']),
      id: String(made.body['webhook_id']),
    };
    const { document } = await gateway.contract();
    let answered = 0;
    for (const { method, path, raw, headers, authorized } of fc.sample(
      fuzzedRequests(document, known),
      REQUESTS,
    )) {
      const response = await fetch(telling.url + path, {
        method,
        headers: { ...headers, ...(authorized && { authorization: `Bearer ${token}` }) },
        ...(raw !== undefined && { body: raw }),
      });
      const text = await response.text();
      // What Prism itself cannot read, it answers itself.
      if (response.headers.get('content-type')?.startsWith('application/problem+json')) continue;
      answered++;
      const wrong = violationsOf(response.headers).filter(
        ({ location }) => location[0] === 'response',
      );
      expect([`${method} ${path}`, response.status, wrong, text]).toEqual([
        `${method} ${path}`,
        response.status,
        [],
        text,
      ]);
    }
    expect(answered).toBeGreaterThan(REQUESTS / 2);
  });
});
