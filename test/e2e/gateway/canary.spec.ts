import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { newSecret } from '../../../src/accounts/credentials.js';
import { eventually } from '../../support/eventually.js';
import { RecordedSpans } from '../../support/recorded-spans.js';
import { type Answered, TestGateway } from './test-gateway.js';
import { limitTests } from '../../support/time-limit.js';

limitTests(150);

/** The canary: part of every secret, text, key and address that is sent. */
const CANARY = 'canary-Zq7xW3';
const NUMBER = '2347098765432';
const SEND = '/ng/v1/sendsms';

/** A carrier, or a customer's server, that answers with all that it was sent. */
class Parrot {
  #server: Server | undefined;
  readonly heard: string[] = [];

  /** `status` answers the request whose path, headers and body it is given. */
  constructor(private readonly status: (asked: string) => number) {}

  async start(): Promise<string> {
    this.#server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const all = `${request.url} ${JSON.stringify(request.headers)} ${body}`;
        this.heard.push(all);
        const status = this.status(all);
        // Only the interface's own form of a code refuses a message, which a callback then reports.
        const code = status === 400 ? 'refused' : `${CANARY} ${NUMBER}`;
        response.writeHead(status, {
          'content-type': 'application/json',
          location: `http://127.0.0.1:9/?${CANARY}`,
        });
        response.end(JSON.stringify({ error: { code, message: all } }));
      });
    });
    await new Promise<void>((resolve) => this.#server!.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }
}

describe('a secret in any field or header', () => {
  // One recipient for each answer: the order in which messages are tried again does not matter.
  const answers = new Map([
    [NUMBER, 400],
    ['2348012345679', 500],
    ['2348012345680', 302],
    ['2348012345681', 401],
  ]);
  const carrier = new Parrot(
    (asked) => [...answers].find(([number]) => asked.includes(number))?.[1] ?? 500,
  );
  const customer = new Parrot(() => 500);
  const carrierToken = newSecret('api_token');
  let spans: RecordedSpans;
  let gateway: TestGateway;
  let customerUrl: string;
  let account: CreatedAccount;
  /** Every body the gateway answered with. */
  const told: Answered[] = [];

  beforeAll(async () => {
    spans = RecordedSpans.register();
    customerUrl = await customer.start();
    gateway = await new TestGateway({
      CARRIER: 'http',
      CARRIER_URL: await carrier.start(),
      CARRIER_TOKEN: carrierToken,
      AUTH_FAILURE_LIMIT: 'off',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      LOG_LEVEL: 'trace',
    }).start();
    account = await gateway.account();
  });
  afterAll(async () => {
    await gateway.destroy();
    await carrier.stop();
    await customer.stop();
    spans.unregister();
  });

  async function call(
    ...[method, path, asked]: Parameters<TestGateway['call']>
  ): Promise<Answered> {
    const answer = await gateway.call(method, path, { token: account.apiToken, ...asked });
    told.push(answer);
    return answer;
  }

  /** Neither the canary, nor a credential, nor a whole number. */
  function expectClean(text: string): void {
    expect(text).not.toContain(CANARY);
    expect(text).not.toMatch(/(?:tok|svk|whsec)_[0-9A-Za-z+/]{8}/);
    expect(text).not.toContain(NUMBER);
  }

  const body = { from: 'ACME', to: [NUMBER], body: `${CANARY} text`, delivery_report: 'yes' };
  const inBodies: [string, string, object, Record<string, string>][] = [
    ['POST', SEND, body, { 'idempotency-key': CANARY }],
    ['POST', SEND, { ...body, body: 'Other' }, { 'idempotency-key': CANARY }],
    ['POST', SEND, { ...body, to: [CANARY, `+${NUMBER}`] }, {}],
    ['POST', SEND, { ...body, body: 'a', content: CANARY }, {}],
    ['POST', SEND, { ...body, send_at: CANARY, delivery_report: CANARY }, {}],
    ['POST', SEND, { ...body, body: { text: CANARY } }, {}],
    ['POST', SEND, body, { 'idempotency-key': `${CANARY} with a space` }],
    ['POST', '/ng/v1/sms/estimate', { body: CANARY }, {}],
    ['POST', '/ng/v1/webhooks', { url: `http://user:${CANARY}@127.0.0.1/` }, {}],
    ['POST', '/ng/v1/webhooks', { url: `ftp://127.0.0.1/${CANARY}` }, {}],
    ['POST', `/ng/v1/webhooks/${CANARY}/redeliver`, { delivery_id: CANARY }, {}],
  ];
  const inQueries = [
    `/ng/v1/sms/${CANARY}`,
    `/ng/v1/sms?cursor=${CANARY}`,
    `/ng/v1/deliveryreports?to=${CANARY}&status=${CANARY}&idempotency_key=${CANARY}`,
    `/${CANARY}`,
    '/ng/v1/sms/%zz' + CANARY,
  ];
  const inHeaders = [
    'authorization',
    'cookie',
    'user-agent',
    'referer',
    'x-request-id',
    'traceparent',
  ];

  it('no log line, metric, span or error contains a secret of a request', async () => {
    for (const [method, path, sent, headers] of inBodies)
      await call(method, path, { body: sent, headers });
    for (const name of inHeaders)
      await call('GET', '/ng/v1/sms', { headers: { [name]: `Bearer ${CANARY}` } });
    for (const secret of [`tok_${CANARY}`, `svk_${CANARY}`, newSecret('api_token'), account.apiKey])
      await call('GET', '/ng/v1/sms', { token: secret });
    await call('POST', SEND, { raw: `{"body":"${CANARY}` });
    await call('POST', SEND, { raw: `<a>${CANARY}</a>`, headers: { 'content-type': 'text/xml' } });
    for (const { body: answer } of told) if ('error' in answer) expectClean(JSON.stringify(answer));
    // A value from the request path may be in the answer, and nowhere else.
    for (const path of inQueries) await call('GET', path);

    // The carrier and the customer's server fail in every way and echo their input.
    const hook = { url: `${customerUrl}/${CANARY}?key=${CANARY}` };
    const made = await call('POST', '/ng/v1/webhooks', { body: hook });
    expect(made.body['secret']).toMatch(/^whsec_/);
    for (const to of answers.keys())
      expect((await call('POST', SEND, { body: { ...body, to: [to] } })).status).toBe(200);
    await eventually(async () => {
      for (const to of answers.keys()) expect(carrier.heard.join('')).toContain(to);
      expect(customer.heard.join('')).toContain(NUMBER);
      expect(gateway.log.join('')).toContain('webhook fails');
      // Each failure of the carrier lengthens its rest.
    }, 90_000);
    expect(carrier.heard.join('')).toContain(carrierToken);

    // The database fails while it has the rows.
    const source = gateway.running.app.get(DataSource, { strict: false });
    await source.query('ALTER TABLE messaging_batch RENAME TO messaging_gone');
    try {
      expect((await call('POST', SEND, { body })).status).toBe(500);
    } finally {
      await source.query('ALTER TABLE messaging_gone RENAME TO messaging_batch');
    }
    expectClean(JSON.stringify(told.at(-1)?.body));

    expectClean(await (await fetch(`${gateway.url}/metrics`)).text());
    const log = gateway.log.join('');
    for (const level of ['debug', 'info', 'warn', 'error'])
      expect([level, log.includes(`"level":"${level}"`)]).toEqual([level, true]);
    expect(log).toContain('"msg":"request"');
    expectClean(log);
    await eventually(async () =>
      expect(new Set(spans.all.map(({ name }) => name))).toEqual(
        new Set(['send sms', 'submit sms', 'report sms', 'callback sms']),
      ),
    );
    const traced = spans.all.map(({ name, attributes, events, status }) =>
      JSON.stringify([name, attributes, events, status]),
    );
    expectClean(traced.join(''));
  });
});
