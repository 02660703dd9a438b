import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { transportContext } from '../../../../../test/support/transport-context.js';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { Submission } from '../../ports/message-transport.js';
import { kannel, type KannelOptions, type KannelTransport } from './kannel.transport.js';
import { say, SendsmsServer } from '../../../../../test/support/sendsms-server.js';

const SECRET = '0123456789abcdef0123456789abcdef';
const { signal } = new AbortController();
const submission: Submission = {
  id: '0198f6f0-0000-7000-8000-000000000001-s0',
  batchId: '0198f6f0-0000-7000-8000-000000000001',
  tenant: '',
  channel: 'sms',
  sender: 'AC ME',
  content: { kind: 'text', text: 'Grüße €' },
  recipients: ['2348012345678'],
  deliveryReport: false,
  attempt: 1,
  dueAt: new Date(1_790_000_000_000),
  firstSentAt: new Date(1_790_000_000_000),
};
const withText = (text: string): Submission => ({ ...submission, content: { kind: 'text', text } });

describe('KannelTransport', () => {
  let server: SendsmsServer;
  let transports: KannelTransport[];
  beforeEach(async () => {
    server = await SendsmsServer.start();
    transports = [];
  });
  afterEach(async () => {
    await Promise.all(transports.map((transport) => transport.onApplicationShutdown()));
    await server.close();
  });

  function made(changes: Partial<KannelOptions> = {}): KannelTransport {
    const { username, password } = server;
    const transport = kannel({
      url: changes.url ?? server.url,
      username,
      password,
      callback: { url: 'http://10.0.0.5:3000/messaging/delivery-reports', secret: SECRET },
      ...changes,
    })(transportContext()) as KannelTransport;
    transports.push(transport);
    return transport;
  }
  const failure = (changes: Partial<KannelOptions> = {}, asked = submission): Promise<unknown> =>
    made(changes)
      .submit(asked, signal)
      .then(
        () => undefined,
        (error: unknown) => error,
      );

  it('a Kannel submit carries text, sender, recipient and our submission id', async () => {
    expect(await made({ smsc: 'FAKE' }).submit(submission, signal)).toEqual({
      reference: submission.id,
    });
    expect(server.taken).toHaveLength(1);
    expect(server.taken[0]).toMatchObject({
      body: 'Grüße €',
      headers: {
        'x-kannel-from': 'AC ME',
        'x-kannel-to': '2348012345678',
        'x-kannel-coding': '0',
        'x-kannel-smsc': 'FAKE',
        'x-kannel-dlr-mask': '31',
      },
    });
  });

  it('text outside GSM 03.38 is sent as UCS-2', async () => {
    const transport = made();
    await transport.submit(withText('ok [€]'), signal);
    await transport.submit(withText('Привет 😀'), signal);
    expect(server.taken.map(({ headers }) => headers['x-kannel-coding'])).toEqual(['0', '2']);
  });

  it('the callback address names submission and recipient', async () => {
    await made().submit(submission, signal);
    const link = String(server.taken[0]?.headers['x-kannel-dlr-url']);
    const { origin, pathname, searchParams } = new URL(link);
    expect(origin + pathname).toBe('http://10.0.0.5:3000/messaging/delivery-reports');
    expect(searchParams.get('submission')).toBe(submission.id);
    expect(searchParams.get('to')).toBe('2348012345678');
    expect(link).toMatch(/&status=%d&answer=%A&id=%F&time=%T$/);
    expect(link).not.toContain(SECRET);
  });

  it('reports are requested for every message by default', async () => {
    await made({ reports: 'message' }).submit(submission, signal);
    await made({ reports: 'message' }).submit({ ...submission, deliveryReport: true }, signal);
    const { url, username, password } = server;
    await kannel({ url, username, password })(transportContext()).submit(
      { ...submission, deliveryReport: true },
      signal,
    );
    expect(server.taken.map(({ headers }) => headers['x-kannel-dlr-mask'])).toEqual([
      undefined,
      '31',
      undefined,
    ]);
  });

  it.each<[number, string, new (...args: never[]) => Error, string]>([
    [400, 'Empty receiver number not allowed, rejected', PermanentFailure, 'bad_request'],
    [
      400,
      'Number(s) has/have been denied by white- and/or black-lists.',
      PermanentFailure,
      'number_denied',
    ],
    [403, 'Authorization failed for sendsms', PausedFailure, 'unauthorized'],
    [403, 'Not routable. Do not try again.', PermanentFailure, 'not_routable'],
    [503, 'Temporal failure, try again later.', RetryableFailure, 'unavailable'],
    [404, 'Unknown request.', PausedFailure, 'not_sendsms'],
    [400, '<html>Bad Request: rejected</html>', UncertainFailure, 'http_400'],
    [400, '', UncertainFailure, 'http_400'],
    [401, '', PausedUncertainFailure, 'not_the_provider'],
    [403, '<html>Authorization failed</html>', PausedUncertainFailure, 'not_the_provider'],
    [403, '', PausedUncertainFailure, 'not_the_provider'],
    [404, '<html>Unknown request</html>', PausedUncertainFailure, 'not_the_provider'],
    [407, '', PausedUncertainFailure, 'not_the_provider'],
    [503, '', UncertainFailure, 'http_503'],
    [503, '<html>Service Unavailable</html>', UncertainFailure, 'http_503'],
    [302, '', PausedUncertainFailure, 'unexpected_redirect'],
    [429, '', PausedUncertainFailure, 'throttled'],
    [408, '', UncertainFailure, 'request_timeout'],
    [413, '', UncertainFailure, 'http_413'],
    [500, 'Sending failed.', UncertainFailure, 'http_500'],
    [502, '', UncertainFailure, 'http_502'],
    [200, '<html>Welcome</html>', UncertainFailure, 'invalid_answer'],
  ])('%i %s maps to its failure kind', async (status, text, meaning, code) => {
    server.answer((_request, response) => say(response, status, text));
    const error = await failure();
    expect(error).toBeInstanceOf(meaning);
    expect(error).toMatchObject({ code });
  });

  it('a message queued for an SMSC counts as accepted', async () => {
    server.answer((_request, response) => say(response, 202, '3: Queued for later delivery'));
    expect(await made().submit(submission, signal)).toEqual({ reference: submission.id });
  });

  it('an unreachable smsbox pauses the lane', async () => {
    const { url } = server;
    await server.close();
    const error = await failure({ url });
    expect(error).toBeInstanceOf(PausedFailure);
    expect(error).toMatchObject({ code: 'unreachable' });
    server = await SendsmsServer.start();
  });

  it.each<[string, Partial<Submission>]>([
    ['another channel', { channel: 'whatsapp' }],
    ['a template', { content: { kind: 'template', template: 't', language: 'en', params: [] } }],
    ['no text', { content: { kind: 'text', text: '' } }],
    ['two recipients', { recipients: ['2348012345678', '2348012345679'] }],
    ['a sender with a line break', { sender: 'A\r\nx-kannel-to: 1' }],
    ['an id with a line break', { id: 'a\nb' }],
  ])('%s is refused before the request', async (_what, changes) => {
    expect(await failure({}, { ...submission, ...changes })).toBeInstanceOf(PermanentFailure);
    expect(server.requests).toEqual([]);
  });

  it('failures contain neither password nor number', async () => {
    const told: string[] = [];
    for (const status of [302, 400, 403, 404, 500, 503]) {
      server.answer((_request, response) =>
        say(response, status, `${server.password} 2348012345678`),
      );
      const error = (await failure()) as Error;
      told.push(`${error.message} ${JSON.stringify(error)} ${error.stack ?? ''}`);
    }
    server.answer((_request, response) => void response.socket?.destroy());
    const lost = (await failure()) as Error;
    told.push(`${lost.message} ${JSON.stringify(lost)} ${lost.stack ?? ''}`);
    expect(told).toHaveLength(7);
    expect(told.join('\n')).not.toMatch(/kannel-pass|2348012345678|0123456789abcdef/);
  });
});
