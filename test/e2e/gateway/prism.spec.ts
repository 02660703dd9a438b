import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { ContractClient, isProblem } from './contract-client.js';
import { fuzzedRequests } from './fuzzed-request.js';
import { Prism, violationsOf } from './prism.js';
import { type Answered, TestGateway } from './test-gateway.js';

const REQUESTS = 150;
/** Milliseconds after which a request is not slow but lost. */
const LOST = 60_000;
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
    // Each proxy compiles the whole document before it listens.
  }, 120_000);
  afterAll(async () => {
    await strict?.stop();
    await telling?.stop();
    await gateway.destroy();
  });

  it('a customer’s usual requests and their answers match the document', async () => {
    const client = new ContractClient(strict.url, gateway.url);
    const ask = async (method: string, path: string, body?: object): Promise<Answered> => {
      const token = path.startsWith('/whatsapp') ? account.apiKey : account.apiToken;
      const answer = await client.call(method, path, { token, ...(body && { body }) });
      // A violation would be answered by Prism in its own form.
      expect([method, path, answer.status < 300, answer.body['type']]).toEqual([
        method,
        path,
        true,
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

    const group = String((await ask('POST', '/ng/v1/groups', { name: 'Staff' })).body['id']);
    const phone = '2348012345670';
    await ask('POST', `/ng/v1/groups/${group}/members`, { members: [phone] });
    for (const path of ['groups', `groups/${group}`, `groups/${group}/members`])
      await ask('GET', `/ng/v1/${path}`);
    await ask('POST', SEND, { ...GOOD, to: [group, phone] });
    await ask('DELETE', `/ng/v1/groups/${group}/members/${phone}`);
    await ask('DELETE', `/ng/v1/groups/${group}`);

    const url = 'http://127.0.0.1:65535/';
    const hook = `/ng/v1/webhooks/${String((await ask('POST', '/ng/v1/webhooks', { url })).body['webhook_id'])}`;
    for (const path of ['/ng/v1/webhooks', hook, `${hook}/attempts`]) await ask('GET', path);
    await ask('PATCH', hook, { enabled: false });
    await ask('DELETE', hook);

    const contacts = '/whatsapp/ng/v1/contacts';
    const contact = String((await ask('POST', contacts, { phone, opt_in: true })).body['id']);
    for (const path of ['contacts', `contacts/${contact}`, 'templates'])
      await ask('GET', `/whatsapp/ng/v1/${path}`);
    const { body } = await ask('GET', '/whatsapp/ng/v1/templates');
    const [template] = body['data'] as { name: string; language: string; params_count: number }[];
    const message = await ask('POST', '/whatsapp/ng/v1/sendwhatsapp', {
      to: phone,
      message_type: 'template',
      template_name: template?.name,
      language: template?.language,
      params: Array.from({ length: template?.params_count ?? 0 }, (_, n) => `value ${n}`),
    });
    await ask('GET', `/whatsapp/ng/v1/messages/${String(message.body['message_id'])}`);
    await ask('DELETE', `${contacts}/${contact}`);
  });

  it('every answer to a random request matches the document', async () => {
    const token = account.apiToken;
    const sent = await gateway.call('POST', SEND, { token, body: { ...GOOD, send_at: LATER } });
    const url = 'http://127.0.0.1:65535/';
    const made = await gateway.call('POST', '/ng/v1/webhooks', { token, body: { url } });
    const ids: Readonly<Record<string, string>> = {
      referenceId: String(sent.body['reference_id']),
      id: String(made.body['webhook_id']),
    };
    const { document } = await gateway.contract();
    let answered = 0;
    const requests = fuzzedRequests(document, (_path, name) => ids[name]).filter(
      ({ raw }) => !isDropped(raw),
    );
    for (const { method, path, raw, headers, authorized } of fc.sample(requests, REQUESTS)) {
      const response = await fetch(telling.url + path, {
        method,
        headers: { ...headers, ...(authorized && { authorization: `Bearer ${token}` }) },
        signal: AbortSignal.timeout(LOST),
        ...(raw !== undefined && { body: raw }),
      }).catch((error: unknown) => {
        throw new Error(`${method} ${path} with ${raw?.slice(0, 1_000)}`, { cause: error });
      });
      const text = await response.text();
      // Prism answers requests that it cannot parse by itself.
      if (isProblem(response)) continue;
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

/** Prism hands on the length of these, and not the bytes: the service would wait for them. */
function isDropped(raw: string | undefined): boolean {
  return raw !== undefined && /^\s*(?:false|null|-?0(?:\.0+)?|"")\s*$/.test(raw);
}
