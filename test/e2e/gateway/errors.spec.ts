import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { type Call, TestGateway } from './test-gateway.js';

const GOOD = { from: 'ACME', to: ['2348012345678'], body: 'Hello' };
const SEND = '/ng/v1/sendsms';
const UNKNOWN_ID = '01993021-0000-7000-8000-000000000000';

const SOME_DETAILS: unknown = expect.any(Array);

describe('an error of the gateway', () => {
  const gateway = new TestGateway();
  let account: CreatedAccount;

  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const send = (body: unknown, more: Call = {}): ReturnType<TestGateway['call']> =>
    gateway.call('POST', SEND, { token: account.apiToken, body, ...more });

  it.each<[string, string, string, Call, number, string, string]>([
    [
      'malformed JSON',
      'POST',
      SEND,
      { raw: '{"from":' },
      400,
      'invalid_request_error',
      'malformed_json',
    ],
    [
      'an empty body',
      'POST',
      SEND,
      { raw: '', headers: { 'content-type': 'application/json' } },
      400,
      'invalid_request_error',
      'malformed_json',
    ],
    [
      'a poisoned prototype',
      'POST',
      SEND,
      { raw: '{"__proto__":{"from":"x"}}' },
      400,
      'invalid_request_error',
      'malformed_json',
    ],
    ['a list for a body', 'POST', SEND, { body: [GOOD] }, 422, 'validation_error', 'invalid_field'],
    ['no body', 'POST', SEND, {}, 422, 'validation_error', 'invalid_field'],
    [
      'text',
      'POST',
      SEND,
      { raw: 'hello', headers: { 'content-type': 'text/plain' } },
      415,
      'invalid_request_error',
      'unsupported_media_type',
    ],
    [
      'a form',
      'POST',
      SEND,
      { raw: 'from=ACME', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'invalid_request_error',
      'unsupported_media_type',
    ],
    [
      'XML',
      'POST',
      SEND,
      { raw: '<a/>', headers: { 'content-type': 'text/xml' } },
      415,
      'invalid_request_error',
      'unsupported_media_type',
    ],
    [
      'too large a body',
      'POST',
      SEND,
      { raw: `{"body":"${'x'.repeat(4 << 20)}"}` },
      413,
      'invalid_request_error',
      'payload_too_large',
    ],
    ['an unknown path', 'GET', '/ng/v1/nothing', {}, 404, 'invalid_request_error', 'not_found'],
    [
      'a path with a broken escape',
      'GET',
      '/ng/v1/sms/%zz',
      {},
      400,
      'invalid_request_error',
      'malformed_request',
    ],
    [
      'a very long path',
      'GET',
      `/ng/v1/sms/${'a'.repeat(200)}`,
      {},
      404,
      'invalid_request_error',
      'not_found',
    ],
    ['the wrong method', 'GET', SEND, {}, 405, 'invalid_request_error', 'method_not_allowed'],
    [
      'the wrong method with a body',
      'PUT',
      SEND,
      { raw: '{' },
      405,
      'invalid_request_error',
      'method_not_allowed',
    ],
    ['a malformed reference', 'GET', '/ng/v1/sms/x', {}, 404, 'invalid_request_error', 'not_found'],
    [
      'an unknown reference',
      'GET',
      `/ng/v1/sms/${UNKNOWN_ID}`,
      {},
      404,
      'invalid_request_error',
      'not_found',
    ],
    [
      'an idempotency key with a space',
      'POST',
      SEND,
      { body: GOOD, headers: { 'idempotency-key': 'a b' } },
      400,
      'invalid_request_error',
      'idempotency_key_invalid',
    ],
    [
      'too long an idempotency key',
      'POST',
      SEND,
      { body: GOOD, headers: { 'idempotency-key': 'a'.repeat(256) } },
      400,
      'invalid_request_error',
      'idempotency_key_invalid',
    ],
    [
      'an unregistered sender',
      'POST',
      SEND,
      { body: { ...GOOD, from: 'OTHER' } },
      422,
      'validation_error',
      'sender_not_registered',
    ],
    [
      'body and content that differ',
      'POST',
      SEND,
      { body: { ...GOOD, content: 'Bye' } },
      422,
      'validation_error',
      'conflicting_fields',
    ],
    [
      'a time without offset',
      'PATCH',
      `/ng/v1/sms/${UNKNOWN_ID}`,
      { body: { send_at: '2030-01-01T00:00:00' } },
      422,
      'validation_error',
      'invalid_field',
    ],
    [
      'an unknown field of a change',
      'PATCH',
      `/ng/v1/sms/${UNKNOWN_ID}`,
      { body: { send_at: '2030-01-01T00:00:00Z', to: [] } },
      422,
      'validation_error',
      'invalid_field',
    ],
    ['a bad cursor', 'GET', '/ng/v1/sms?cursor=x', {}, 422, 'validation_error', 'invalid_field'],
    [
      'a bad report cursor',
      'GET',
      '/ng/v1/deliveryreports?cursor=x',
      {},
      422,
      'validation_error',
      'invalid_field',
    ],
    [
      'too high a limit',
      'GET',
      '/ng/v1/deliveryreports?limit=1001',
      {},
      422,
      'validation_error',
      'invalid_field',
    ],
  ])(
    '%s: the error has the form of the interface',
    async (_what, method, path, call, status, type, code) => {
      const answer = await gateway.call(method, path, { token: account.apiToken, ...call });
      expect([answer.status, answer.body]).toEqual([
        status,
        {
          error: {
            type,
            code,
            message: expect.any(String),
            ...(status === 422 && { details: SOME_DETAILS }),
          },
        },
      ]);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    },
  );

  it.each<[string, string]>([
    ['cursor=x', 'cursor'],
    ['limit=0', 'limit'],
    ['limit=many', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['to=%2B2348012345678', 'to'],
    ['status=queued', 'status'],
    ['since=yesterday', 'since'],
    ['idempotency_key=a%20b', 'idempotency_key'],
    ['page=2', 'page'],
    [Array.from({ length: 101 }, () => `reference_id=${UNKNOWN_ID}`).join('&'), 'reference_id'],
  ])('the query %.40s is refused and its field named', async (query, path) => {
    const { status, body } = await gateway.call('GET', `/ng/v1/deliveryreports?${query}`, {
      token: account.apiToken,
    });
    expect(status).toBe(422);
    expect(body).toMatchObject({ error: { details: [{ path, message: expect.any(String) }] } });
  });

  it('an error names every wrong field, and a recipient by its index', async () => {
    const { body } = await send({
      from: '!',
      to: ['2348012345678', '+2348012345678', 7],
      subject: '',
    });
    expect(body).toMatchObject({
      error: {
        code: 'invalid_field',
        details: [
          { path: 'subject', message: 'is not a field of this request' },
          { path: 'from' },
          { path: 'to[1]', message: expect.stringContaining('leave out the plus') },
          { path: 'to[2]' },
          { path: 'body' },
        ],
      },
    });
  });

  it.each([
    SEND,
    '/ng/v1/voice/calls',
    '/ng/v1/vas/orders',
    '/ng/v1/vas/verifications',
    '/whatsapp/ng/v1/sendwhatsapp',
  ])('%s refuses a number with a trunk zero and names the right one', async (path) => {
    const several = path === SEND || path === '/ng/v1/voice/calls';
    const number = '4402079460958';
    const to = several ? ['390612345678', '2250712345678', '24106031234', number] : number;
    const token = path.startsWith('/whatsapp') ? account.apiKey : account.apiToken;
    const request = path.endsWith('verifications') ? { to, channel: 'sms' } : { ...GOOD, to };
    const { status, body } = await gateway.call('POST', path, { token, body: request });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      error: {
        code: 'invalid_field',
        details: expect.arrayContaining([
          {
            path: several ? 'to[3]' : 'to',
            message: expect.stringContaining('must be 442079460958:'),
          },
        ]),
      },
    });
  });

  it('contacts and groups refuse a number with a trunk zero and name the right one', async () => {
    const { apiToken, apiKey } = account;
    const group = await gateway.call('POST', '/ng/v1/groups', {
      token: apiToken,
      body: { name: 'Friends' },
    });
    const members = `/ng/v1/groups/${String(group.body['id'])}/members`;
    for (const [path, token, field, body] of [
      [members, apiToken, 'members[0]', (number: string) => ({ members: [number] })],
      ['/whatsapp/ng/v1/contacts', apiKey, 'phone', (phone: string) => ({ phone })],
      ['/email/ng/v1/contacts', apiKey, 'phone', (phone: string) => ({ phone })],
    ] as const)
      for (const [number, remedy] of [
        ['4402079460958', 'must be 442079460958:'],
        ['+44 (0)20 7946 0958', 'leave out the plus'],
      ] as const)
        expect(await gateway.call('POST', path, { token, body: body(number) })).toMatchObject({
          status: 422,
          body: {
            error: { details: [{ path: field, message: expect.stringContaining(remedy) }] },
          },
        });
  });

  it('an error names the text field by the name in the request', async () => {
    const long = 'x'.repeat(153 * 10 + 1);
    const { body } = await send({ from: 'ACME', to: ['2348012345678'], content: long });
    expect(body).toMatchObject({ error: { details: [{ path: 'content' }] } });
  });

  it('a send accepts as many recipients as the limit and refuses one more', async () => {
    const to = Array.from({ length: 100_001 }, (_, n) => String(2_340_000_000_000 + n));
    const refused = await send({ ...GOOD, to });
    expect(refused).toMatchObject({ status: 422, body: { error: { details: [{ path: 'to' }] } } });
    const taken = await send({ ...GOOD, to: to.slice(1), send_at: '2150-01-01T00:00:00Z' });
    expect(taken).toMatchObject({ status: 200, body: { recipients_processed: 100_000 } });
    const path = `/ng/v1/sms/${String(taken.body['reference_id'])}`;
    expect((await gateway.call('GET', path, { token: account.apiToken })).body).toMatchObject({
      to: to.slice(1, 1_001),
      recipients_truncated: true,
      recipients_processed: 100_000,
    });
    const { body: page } = await gateway.call('GET', `${path}/recipients?limit=2`, {
      token: account.apiToken,
    });
    const waiting = { status: 'queued', error_code: null };
    expect(page['data']).toEqual([
      { to: to[1], ...waiting },
      { to: to[2], ...waiting },
    ]);
    const next = await gateway.call(
      'GET',
      `${path}/recipients?cursor=${String(page['next_cursor'])}`,
      {
        token: account.apiToken,
      },
    );
    expect((next.body['data'] as unknown[]).slice(0, 1)).toEqual([{ to: to[3], ...waiting }]);
  });

  it('a 405 lists the allowed methods in Allow', async () => {
    const answer = await gateway.call('POST', `/ng/v1/sms/${UNKNOWN_ID}`, { body: {} });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'DELETE, GET, HEAD, PATCH']);
  });

  it('a refused request stores nothing', async () => {
    const { body } = await gateway.call('GET', '/ng/v1/sms', {
      token: (await gateway.account()).apiToken,
    });
    expect(body).toEqual({ data: [], next_cursor: null });
  });

  it('unreadable HTTP and a line break in a header get an error in the form of the interface', async () => {
    const answer = await raw(
      gateway.url,
      'GET /ng/v1/sms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tok\n_x\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      error: { type: 'invalid_request_error', code: 'malformed_request' },
    });
    expect(await raw(gateway.url, 'hello\r\n\r\n')).toMatch(/malformed_request/);
  });

  it('an internal error gives the caller a request id and the log its cause, without content', async () => {
    const query = '/ng/v1/sms';
    const { app } = gateway.running;
    const { SmsService } = await import('@dundun/messaging');
    const service = app.get(SmsService, { strict: false });
    const failing = new Error('no such luck for 2348012345678');
    Object.assign(failing, { parameters: ['the text of a message'] });
    const { batches } = service;
    service.batches = () => Promise.reject(failing);
    const answer = await gateway.call('GET', query, { token: account.apiToken });
    service.batches = batches;
    expect(answer).toMatchObject({
      status: 500,
      body: { error: { type: 'api_error', code: 'internal_error' } },
    });
    const id = answer.headers.get('x-request-id');
    const line = gateway.log.find((one) => one.includes('internal_error'));
    expect(JSON.parse(String(line))).toMatchObject({
      level: 'error',
      request: id,
      err: { name: 'Error', message: 'no such luck for 23480******78' },
    });
    expect(gateway.log.join('')).not.toMatch(/the text of a message/);
  });
});

describe('the limits of a gateway', () => {
  const gateway = new TestGateway({ MAX_RECIPIENTS: '2', MAX_PARTS: '1', BODY_LIMIT: '1KiB' });
  let token: string;
  beforeAll(async () => {
    await gateway.start();
    token = (await gateway.account()).apiToken;
  });
  afterAll(() => gateway.destroy());

  it.each<[string, unknown, number, string]>([
    ['recipients', { to: ['2348012345678', '2348012345679', '2348012345670'] }, 422, 'to'],
    ['parts', { body: 'x'.repeat(161) }, 422, 'body'],
    ['bytes', { body: 'x'.repeat(1_100) }, 413, ''],
  ])('the limit of %s comes from the environment', async (_what, change, status, path) => {
    const body = { ...GOOD, ...(change as object) };
    const answer = await gateway.call('POST', SEND, { token, body });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(path === '' ? 'payload_too_large' : `"${path}"`);
  });
});

/** Sends bytes and reads until the connection ends. */
function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}
