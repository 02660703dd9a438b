import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HTTP_WAYS, transportContext } from '../../../../../test/support/transport-context.js';
import type { HttpService } from '@nestjs/axios';
import { type AddressInfo, createServer } from 'node:net';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  type SubmitFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { Submission } from '../../ports/message-transport.js';
import type { Answer } from '../../../../../test/support/recording-server.js';
import { InterfaceServer } from '../../../../../test/support/interface-server.js';
import type { HttpTransportOptions } from './http.options.js';
import { http, type HttpTransport } from './http.transport.js';

const TOKEN = 'tok_test';
const SECRETS = [TOKEN, 'Your code is 1234', '2348012345678'];

const submission: Submission = {
  id: '0198f6f0-0000-7000-8000-000000000001-s0',
  batchId: '0198f6f0-0000-7000-8000-000000000001',
  tenant: '',
  channel: 'sms',
  sender: 'ACME',
  content: { kind: 'text', text: 'Your code is 1234' },
  recipients: ['2348012345678', '2348012345679'],
  deliveryReport: true,
  attempt: 1,
  dueAt: new Date(1_790_000_000_000),
  firstSentAt: new Date(1_790_000_000_000),
};

let service: InterfaceServer;
let transports: HttpTransport[];

function transport(options: Partial<HttpTransportOptions> = {}, httpService?: HttpService) {
  const made = http({ baseUrl: service.url, apiToken: TOKEN, ...options })(
    transportContext({ http: httpService }),
  ) as HttpTransport;
  transports.push(made);
  return made;
}

async function failure(made: HttpTransport, signal = new AbortController().signal) {
  const error = await made.submit(submission, signal).then(
    () => {
      throw new Error('The submission was accepted');
    },
    (thrown: SubmitFailure) => thrown,
  );
  const text = JSON.stringify([error.message, error.stack, Object.entries(error)]);
  for (const secret of SECRETS) expect(text).not.toContain(secret);
  expect(error.cause).toBeUndefined();
  return error;
}

const status =
  (code: number, body: unknown = {}, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response
      .writeHead(code, { 'content-type': 'application/json', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const refused = (code: string) => ({ error: { type: 'x', code, message: 'to 2348012345678' } });

beforeEach(async () => {
  service = await InterfaceServer.start();
  transports = [];
});

afterEach(async () => {
  await Promise.all(transports.map((made) => made.onApplicationShutdown()));
  await service.close();
});

describe.each(HTTP_WAYS)('%s', (_way, httpService) => {
  /** `HttpService` does not tell whether bytes left. */
  const tellsMore = httpService() === undefined;

  it("a submit posts the interface's request and returns its reference", async () => {
    const accepted = await transport({}, httpService()).submit(
      submission,
      new AbortController().signal,
    );
    const [request] = service.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/ng/v1/sendsms' });
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer tok_test',
      'content-type': 'application/json',
      'idempotency-key': submission.id,
    });
    expect(JSON.parse(request?.body ?? '')).toEqual({
      from: 'ACME',
      to: submission.recipients,
      body: 'Your code is 1234',
      delivery_report: 'yes',
    });
    expect(accepted.reference).toBe(service.accepted.get(submission.id)?.answer['reference_id']);
  });

  it("the delivery report option overrides the message's", async () => {
    const { signal } = new AbortController();
    await transport({ deliveryReport: false }, httpService()).submit(submission, signal);
    expect(JSON.parse(service.requests[0]?.body ?? '')).toMatchObject({ delivery_report: 'none' });
  });

  it.each([401, 403, 404, 405, 407])(
    'an address without the interface (%d) pauses the lane, and the message may have been accepted',
    async (code) => {
      service.answer(status(code, '<html>'));
      await expect(
        transport({}, httpService()).submit(submission, new AbortController().signal),
      ).rejects.toMatchObject({ name: 'PausedUncertainFailure', code: 'not_the_interface' });
    },
  );

  it('a resend has the same bytes and is taken once', async () => {
    const made = transport({}, httpService());
    const first = await made.submit(submission, new AbortController().signal);
    const second = await made.submit({ ...submission, attempt: 2 }, new AbortController().signal);
    expect(second).toEqual(first);
    expect(service.requests[1]?.body).toBe(service.requests[0]?.body);
    expect(service.requests[1]?.headers).toEqual(service.requests[0]?.headers);
    expect(service.accepted.size).toBe(1);
  });

  it.each<[number, string, typeof PermanentFailure | typeof PausedFailure, string]>([
    [400, 'malformed_json', PermanentFailure, 'malformed_json'],
    [401, 'unauthorized', PausedFailure, 'unauthorized'],
    [403, 'account_disabled', PausedFailure, 'account_disabled'],
    [403, 'insufficient_scope', PausedFailure, 'insufficient_scope'],
    [404, 'not_found', PermanentFailure, 'not_found'],
    [408, 'request_timeout', UncertainFailure, 'request_timeout'],
    [409, 'idempotency_key_in_use', UncertainFailure, 'idempotency_key_in_use'],
    [409, 'already_sent', PermanentFailure, 'already_sent'],
    [413, 'payload_too_large', PermanentFailure, 'payload_too_large'],
    [422, 'sender_not_registered', PermanentFailure, 'sender_not_registered'],
    [422, 'idempotency_key_reused', UncertainFailure, 'idempotency_key_reused'],
    [429, 'rate_limited', PausedUncertainFailure, 'throttled'],
    [500, 'internal_error', UncertainFailure, 'internal_error'],
    [502, 'bad_gateway', UncertainFailure, 'bad_gateway'],
    [503, 'unavailable', UncertainFailure, 'unavailable'],
  ])('%i %s maps to its failure kind', async (code, said, kind, told) => {
    service.answer(status(code, refused(said), { 'retry-after': '7' }));
    const error = await failure(transport({}, httpService()));
    expect(error).toBeInstanceOf(kind);
    expect(error.code).toBe(told);
  });

  it.each([408, 429, 500, 503])('%i passes Retry-After on', async (code) => {
    service.answer(status(code, refused('x'), { 'retry-after': '7' }));
    expect(await failure(transport({}, httpService()))).toMatchObject({ retryAfter: 7000 });
  });

  it('redirects are not followed', async () => {
    const elsewhere = await InterfaceServer.start();
    service.answer(status(307, '', { location: `${elsewhere.url}/ng/v1/sendsms` }));
    const error = await failure(transport({}, httpService()));
    expect(error).toBeInstanceOf(PausedUncertainFailure);
    expect(error.code).toBe('unexpected_redirect');
    expect(elsewhere.requests).toHaveLength(0);
    await elsewhere.close();
  });

  it.each<[string, Answer]>([
    ['no reference_id', status(200, { status_code: 200 })],
    ['a reference_id that is no string', status(200, { reference_id: 7 })],
    ['an empty reference_id', status(200, { reference_id: '' })],
    ['a NUL in the reference_id', status(200, { reference_id: 'a\0b' })],
    ['an inherited reference_id', status(200, '{"__proto__":{"reference_id":"x"}}')],
    ['HTML', status(200, '<html>', { 'content-type': 'text/html' })],
    ['nothing', status(204, '')],
    ['4 MB', status(200, JSON.stringify({ reference_id: 'a', pad: 'x'.repeat(4_000_000) }))],
    [
      '4 MB in chunks without an end in sight',
      (_request, response) => {
        response.writeHead(200);
        const chunk = 'x'.repeat(65_536);
        const more = () => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', more);
        more();
      },
    ],
  ])('a success with %s is uncertain', async (_what, answer) => {
    service.answer(answer);
    expect(await failure(transport({}, httpService()))).toBeInstanceOf(UncertainFailure);
  });

  it('JSON under another content type is read', async () => {
    service.answer(status(200, { reference_id: 'r-1' }, { 'content-type': 'text/plain' }));
    const accepted = await transport({}, httpService()).submit(
      submission,
      new AbortController().signal,
    );
    expect(accepted).toEqual({ reference: 'r-1' });
  });

  it('a refusal whose body is too large to be read is uncertain', async () => {
    service.answer(status(422, { error: { code: 'c' }, pad: 'x'.repeat(2_000_000) }));
    const error = await failure(transport({}, httpService()));
    expect(error).toBeInstanceOf(UncertainFailure);
    expect(error.code).toBe(tellsMore ? 'http_422' : 'connection_lost');
  });

  it.each<[string, Answer]>([
    ['before the headers', (_request, response) => void response.socket?.destroy()],
    [
      'before the headers, by reset',
      (_request, response) => void response.socket?.resetAndDestroy(),
    ],
    [
      'inside the body',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '500' });
        response.write('{"reference_id":', () => response.socket?.destroy());
      },
    ],
  ])('a socket cut %s is uncertain', async (_when, answer) => {
    service.answer(answer);
    const error = await failure(transport({}, httpService()));
    expect(error).toBeInstanceOf(UncertainFailure);
    expect(error.code).toBe('connection_lost');
    expect(service.requests).toHaveLength(1);
  });

  it.each([
    ['timeout', new DOMException('late', 'TimeoutError')],
    ['aborted', new Error('stopping')],
  ])('a missing answer ends as %s and is uncertain', async (code, reason) => {
    const giveUp = new AbortController();
    service.answer(() => giveUp.abort(reason));
    const error = await failure(transport({}, httpService()), giveUp.signal);
    expect(error).toBeInstanceOf(UncertainFailure);
    expect(error.code).toBe(code);
  });

  it('a submission aborted before it left is unsent', async () => {
    const error = await failure(transport({}, httpService()), AbortSignal.abort());
    expect(error).toBeInstanceOf(PausedFailure);
    expect(error.code).toBe('not_sent');
    expect(service.requests).toHaveLength(0);
  });

  it('a refused connection pauses the lane', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const error = await failure(transport({ baseUrl: `http://127.0.0.1:${port}` }, httpService()));
    expect(error).toBeInstanceOf(PausedFailure);
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain('ECONNREFUSED');
  });

  it('an unresolvable name pauses the lane', async () => {
    const error = await failure(transport({ baseUrl: 'http://nowhere.invalid' }, httpService()));
    expect(error).toBeInstanceOf(PausedFailure);
    expect(error.code).toBe('unreachable');
  });

  it('a server without TLS pauses the lane where the client tells it', async () => {
    const baseUrl = service.url.replace('http:', 'https:');
    const error = await failure(transport({ baseUrl }, httpService()));
    expect(error).toBeInstanceOf(tellsMore ? PausedFailure : UncertainFailure);
    expect(error.code).toBe(tellsMore ? 'unreachable' : 'connection_lost');
    expect(service.requests).toHaveLength(0);
  });

  it('an endless TLS handshake pauses the lane where the client tells it', async () => {
    const giveUp = new AbortController();
    const mute = createServer((socket) => {
      socket.resume().on('error', () => undefined);
      giveUp.abort(new DOMException('late', 'TimeoutError'));
    });
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as AddressInfo;
    const made = transport({ baseUrl: `https://127.0.0.1:${port}` }, httpService());
    const error = await failure(made, giveUp.signal);
    expect(error).toBeInstanceOf(tellsMore ? PausedFailure : UncertainFailure);
    expect(error.code).toBe(tellsMore ? 'unreachable' : 'timeout');
    await made.onApplicationShutdown();
    await new Promise((resolve) => mute.close(resolve));
  });

  it('submission values never become headers or fields', async () => {
    const signal = new AbortController().signal;
    const made = transport({}, httpService());
    const evil = 'a\r\nx-evil: 1';
    await expect(made.submit({ ...submission, id: evil }, signal)).rejects.toThrow(
      PermanentFailure,
    );
    expect(service.requests).toHaveLength(0);
    await expect(
      made.submit({ ...submission, sender: '","x":"\r\nx-evil: 1' }, signal),
    ).rejects.toThrow(PermanentFailure);
    expect(service.requests[0]?.headers).not.toHaveProperty('x-evil');
    expect(JSON.parse(service.requests[0]?.body ?? '')).not.toHaveProperty('x');
  });

  it('content that the provider cannot carry is refused', async () => {
    const signal = new AbortController().signal;
    const made = transport({}, httpService());
    const template = { kind: 'template', template: 't', language: 'en', params: [] } as const;
    await expect(made.submit({ ...submission, channel: 'fax' }, signal)).rejects.toMatchObject({
      code: 'unsupported_channel',
    });
    await expect(made.submit({ ...submission, content: template }, signal)).rejects.toMatchObject({
      code: 'unsupported_content',
    });
    expect(service.requests).toHaveLength(0);
  });
});

describe('options', () => {
  it('the text is sent in the configured field', async () => {
    const made = transport({ textField: { sms: 'content' } });
    await made.submit(submission, new AbortController().signal);
    expect(JSON.parse(service.requests[0]?.body ?? '')).toMatchObject({
      content: 'Your code is 1234',
    });
  });

  it('the base URL may have a path', async () => {
    service.answer(status(200, { reference_id: 'r' }));
    await transport({ baseUrl: `${service.url}/sms/` }).submit(
      submission,
      new AbortController().signal,
    );
    expect(service.requests[0]?.url).toBe('/sms/ng/v1/sendsms');
  });

  it('the options have the documented defaults', () => {
    expect(transport()).toMatchObject({
      name: 'http',
      capabilities: { maxRecipients: 1000, idempotencyWindow: 72_000_000 },
    });
  });
});
