import { registryOf } from '../channels/built-in-channels.js';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type INestApplication, Logger, VersioningType } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Webhook } from 'standardwebhooks';
import { consentWords } from '../contacts/consent-words.js';
import { InboundRecorder } from '../contacts/inbound.js';
import type { DeliveryReport } from '../message/events.js';
import { ReportRecorder } from '../store/verbs/report.js';
import { MESSAGING_CLOCK, systemClock } from '../ports/clock.js';
import { TemplateListeners } from '../ports/listeners.js';
import { MESSAGE_TRANSPORTS } from '../ports/message-transport.js';
import type { CallbackOptions } from '../ports/callback-options.js';
import { MESSAGING_SETTINGS } from '../ports/messaging-settings.js';
import { CALLBACK_PATH, CallbackEndpoints, DEFAULT_CALLBACK_FORM } from './callback-endpoints.js';
import { CallbackCounts, CallbacksService } from './callbacks.service.js';
import { callbackController } from './callback.controller.js';
import { interfaceCallbacks } from '../providers/http/interface-callbacks.js';
import { sesParser } from '../providers/ses/ses.js';
import { vonageParser } from '../providers/vonage/vonage.js';
import { sharedSecret } from './verifiers.js';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const NUMBER = '2348012345678';
const data = { reference_id: 'r-1', message_id: 'r-1-0', to: NUMBER, status: 'delivered' };
const event = { type: 'sms.delivery_report', timestamp: '2026-01-01T00:00:00Z', data };
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Keeps what it is given; `gate` decides when and how a record ends. */
class Recorder {
  readonly recorded: DeliveryReport[] = [];
  readonly origins: string[] = [];
  gate: () => Promise<void> = () => Promise.resolve();

  async record(reports: readonly DeliveryReport[], { provider }: { provider: string }) {
    await this.gate();
    this.recorded.push(...reports);
    this.origins.push(provider);
  }
}

let log: string[];
/** Milliseconds that the test has moved the clock. */
let ahead: number;
beforeEach(() => {
  log = [];
  ahead = 0;
  for (const level of ['log', 'warn', 'error'] as const)
    jest.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => {
      log.push(`${level} ${String(line)}`);
    });
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe.each<[string, () => AbstractHttpAdapter]>([
  ['Fastify', () => new FastifyAdapter() as AbstractHttpAdapter],
  ['Express', () => new ExpressAdapter()],
])('on %s', (platform, adapter) => {
  let app: INestApplication | undefined;
  let recorder: Recorder;
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  async function boot(
    options: CallbackOptions,
    { rawBody = true, configure = (_app: INestApplication) => undefined as void } = {},
  ): Promise<string> {
    recorder = new Recorder();
    const module = await Test.createTestingModule({
      controllers: [callbackController('messaging/delivery-reports', [])],
      providers: [
        CallbacksService,
        { provide: ReportRecorder, useValue: recorder },
        { provide: InboundRecorder, useValue: recorder },
        TemplateListeners,
        CallbackCounts,
        CallbackEndpoints,
        { provide: CALLBACK_PATH, useValue: 'callbacks' },
        { provide: MESSAGING_SETTINGS, useValue: { callbacks: options } },
        { provide: MESSAGE_TRANSPORTS, useValue: new Map([['http', {}]]) },
        { provide: DEFAULT_CALLBACK_FORM, useValue: interfaceCallbacks(registryOf()) },
        {
          provide: MESSAGING_CLOCK,
          useValue: { ...systemClock, monotonic: () => performance.now() + ahead },
        },
      ],
    }).compile();
    app = module.createNestApplication(adapter(), { rawBody, logger: false });
    configure(app);
    await app.listen(0, '127.0.0.1');
    log.length = 0;
    return `${await app.getUrl()}/messaging/delivery-reports`;
  }

  const send = (url: string, body: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', headers: { 'content-type': JSON_TYPE, ...headers }, body });

  /** `undefined`: the platform's own parsers. */
  function useBodyParser(fastify: unknown[] | undefined, express: unknown[] | undefined) {
    const given = platform === 'Fastify' ? fastify : express;
    return (made: INestApplication): void => {
      if (given)
        (made as unknown as { useBodyParser: (...args: unknown[]) => void }).useBodyParser(
          ...given,
        );
    };
  }

  function signed(body: string, secret = SECRET): Record<string, string> {
    const at = new Date();
    return {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
    };
  }

  it('a check of the address, empty or with its secret alone, is answered 200 and changes nothing', async () => {
    const secret = 'a-secret-of-many-letters';
    const verifier = sharedSecret({ secret, in: { query: 'token' } });
    const url = await boot({
      secrets: [SECRET],
      providers: {
        vonage: { provider: 'http', parser: vonageParser(), verifier },
        ses: { provider: 'http', parser: sesParser(), verifier },
      },
    });
    const ask = async (path: string, init?: RequestInit) =>
      (await fetch(`${url}${path}`, init)).status;
    for (const path of ['', '/vonage', `/vonage?token=${secret}`, '/ses', `/ses?token=${secret}`]) {
      expect(await ask(path)).toBe(200);
      expect(await ask(path, { method: 'POST' })).toBe(200);
      expect(await ask(path, { method: 'POST', headers: { 'content-type': FORM_TYPE } })).toBe(200);
    }
    expect(await ask('/vonage?token=another')).toBe(401);
    expect(await ask(`/vonage?token=${secret}&msisdn=${NUMBER}&status=delivered`)).toBe(400);
    expect(await ask('/another')).toBe(404);
    expect(recorder.recorded).toEqual([]);
  });

  it.each([
    ['ISO-8859-1', 'Arr%EAt+%26'],
    ['utf-8', 'Arr%C3%AAt+%26'],
    ['"utf-8"', 'Arrêt+%26'],
  ])('a form in %s is read in its character set', async (charset, text) => {
    const taken: unknown[] = [];
    const url = await boot({
      insecure: true,
      parser: {
        parse: ({ body }) => {
          taken.push(body);
          return { errors: [] };
        },
      },
    });
    const type = `${FORM_TYPE}; charset=${charset}`;
    const { status } = await send(url, `text=${text}&to=21512&from=%2B${NUMBER}`, {
      'content-type': type,
    });
    expect(status).toBe(204);
    expect(taken).toEqual([{ text: 'Arrêt &', to: '21512', from: `+${NUMBER}` }]);
    const [{ text: read }] = taken as [{ text: string }];
    expect(consentWords()(read)).toBe('opted_out');
  });

  it('a signed callback with any bytes is recorded', async () => {
    const url = await boot({ secrets: [SECRET] });
    const body = `  {"type":"sms.delivery_report",\n"x":"dún €\\u0000","data":${JSON.stringify(data)}}`;
    const response = await send(url, body, signed(body));
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(recorder.recorded).toMatchObject([
      { reference: 'r-1', recipient: NUMBER, status: 'delivered' },
    ]);
    expect(recorder.origins).toEqual(['http']);
    expect(log).toEqual([]);
  });

  it('wrong signatures are 401, not recorded, and one log line a minute', async () => {
    const url = await boot({ secrets: [SECRET] });
    const body = JSON.stringify(event);
    const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const statuses = [
      (await send(url, body)).status,
      (await send(url, body, signed(body, other))).status,
      (await send(url, `${body} `, signed(body))).status,
      (await fetch(`${url}?reference_id=r&status=delivered`, { headers: signed('') })).status,
    ];
    expect(statuses).toEqual([401, 401, 401, 401]);
    expect(recorder.recorded).toEqual([]);
    const line = 'warn Callback refused at default (provider http): invalid signature';
    expect(log).toEqual([line]);
    ahead += 60_000;
    await send(url, body);
    expect(log).toEqual([line, `${line}, and 3 more since the last line`]);
  });

  it('a body that the platform left unparsed is parsed after the verification', async () => {
    const url = await boot(
      { secrets: [SECRET] },
      {
        configure: useBodyParser(
          [JSON_TYPE, {}, (_request: object, _body: Buffer, done: () => void) => done()],
          ['raw', { type: JSON_TYPE }],
        ),
      },
    );
    const half = '{"type":';
    expect((await send(url, half)).status).toBe(401);
    expect((await send(url, half, signed(half))).status).toBe(400);
    const whole = `\uFEFF${JSON.stringify(event)}`;
    expect((await send(url, whole, signed(whole))).status).toBe(204);
    expect(recorder.recorded).toMatchObject([{ recipient: NUMBER }]);
  });

  it.each(['text/plain', 'text/plain; charset=utf-16', 'application/jsonp'])(
    'a body of the type %s is 415, which names the types that are read',
    async (type) => {
      const body = JSON.stringify(event);
      const leave = (_request: object, _body: Buffer, done: () => void) => done();
      for (const options of [{ secrets: [SECRET] }, { insecure: true as const }]) {
        const url = await boot(options, {
          configure: useBodyParser([/^application\/jsonp/, {}, leave], undefined),
        });
        const response = await send(url, body, { 'content-type': type, ...signed(body) });
        expect([response.status, await response.json()]).toMatchObject([
          415,
          { message: expect.stringContaining('application/json or application/x-www-form') },
        ]);
        await app?.close();
      }
      expect(recorder.recorded).toEqual([]);
    },
  );

  it('in an app without rawBody, signed callbacks are answered with the remedy, which is logged once', async () => {
    const url = await boot(
      { secrets: [SECRET], providers: { other: { secrets: [SECRET], provider: 'http' } } },
      { rawBody: false },
    );
    const remedy = expect.stringMatching(/rawBody: true.*NestFactory/);
    const body = JSON.stringify(event);
    for (let n = 0; n < 3; n++) {
      const response = await send(url, body, signed(body));
      expect([response.status, await response.json()]).toMatchObject([500, { message: remedy }]);
    }
    expect(log).toEqual([remedy]);
    expect(log[0]).toMatch(/^error Callback refused at default \(provider http\): /);
    await send(`${url}/other`, body, signed(body));
    expect(log[1]).toMatch(/^error Callback refused at other \(provider http\): .*rawBody/);
    expect(recorder.recorded).toEqual([]);
  });

  it('signed forms and arrays are taken', async () => {
    const url = await boot({ secrets: [SECRET] });
    const form = `reference_id=r-1&to=%2B${NUMBER}&status=delivered`;
    const array = JSON.stringify([event, data]);
    expect((await send(url, form, { 'content-type': FORM_TYPE, ...signed(form) })).status).toBe(
      204,
    );
    expect((await send(url, array, signed(array))).status).toBe(204);
    expect(recorder.recorded.map(({ recipient }) => recipient)).toEqual([NUMBER, NUMBER, NUMBER]);
  });

  it('a GET is taken where no signature is required', async () => {
    const url = await boot({ insecure: true });
    const response = await fetch(`${url}?reference_id=r-1&to=${NUMBER}&status=delivered`);
    expect(response.status).toBe(200);
    expect(recorder.recorded).toMatchObject([{ reference: 'r-1', recipient: NUMBER }]);
  });

  it('a callback is answered after the commit', async () => {
    const url = await boot({ insecure: true });
    let commit!: () => void;
    let asked!: () => void;
    const started = new Promise<void>((resolve) => (asked = resolve));
    recorder.gate = () =>
      new Promise((resolve) => {
        commit = resolve;
        asked();
      });
    const order: string[] = [];
    const answered = send(url, JSON.stringify(event)).then(({ status }) => order.push(`${status}`));
    await started;
    order.push('commit');
    commit();
    await answered;
    expect(order).toEqual(['commit', '204']);
  });

  it('a failed commit is answered 503', async () => {
    const url = await boot({ insecure: true });
    recorder.gate = () => Promise.reject(new Error(`row (${NUMBER}) is bad`));
    expect((await send(url, JSON.stringify(event))).status).toBe(503);
    expect(log).toEqual([expect.stringMatching(/^error .*1 reports were not committed/)]);
    expect(log.join()).not.toContain(NUMBER);
  });

  it('one bad entry fails no other entry, and only a callback of bad entries alone is 400', async () => {
    const url = await boot({ insecure: true });
    const bad = { reference_id: NUMBER };
    expect((await send(url, JSON.stringify([bad, event, 7]))).status).toBe(204);
    expect(recorder.recorded).toHaveLength(1);
    expect(log).toEqual([expect.stringContaining('1 reports and 2 unreadable entries')]);
    expect((await send(url, JSON.stringify([bad, bad, bad, bad]))).status).toBe(400);
    expect(recorder.recorded).toHaveLength(1);
    expect(log).toHaveLength(2);
    expect(log.join()).not.toContain(NUMBER);
  });

  it.each([
    ['half a JSON', '{"type":', JSON_TYPE],
    ['a JSON string', '"delivered"', JSON_TYPE],
    ['an empty object', '{}', JSON_TYPE],
  ])('%s is 400', async (_what, body, type) => {
    const url = await boot({ insecure: true });
    expect((await send(url, body, { 'content-type': type })).status).toBe(400);
    expect(recorder.recorded).toEqual([]);
  });

  it('an event of another type is accepted and ignored', async () => {
    const url = await boot({ insecure: true });
    expect((await send(url, JSON.stringify({ ...event, type: 'email.opened' }))).status).toBe(204);
    expect(recorder.recorded).toEqual([]);
    expect(log).toEqual([]);
  });

  it('a callback above 1 MiB is 413', async () => {
    const body = JSON.stringify(Array.from({ length: 12_000 }, () => event));
    expect(body.length).toBeGreaterThan(1_048_576);
    let url = await boot({ insecure: true });
    expect((await send(url, body)).status).toBe(413);
    await app?.close();
    url = await boot(
      { insecure: true },
      {
        configure: useBodyParser(
          [JSON_TYPE, { bodyLimit: 10_000_000 }],
          ['json', { limit: '10mb' }],
        ),
      },
    );
    expect((await send(url, body)).status).toBe(413);
    expect(recorder.recorded).toEqual([]);
    expect(log).toEqual([expect.stringContaining('more than 1048576 bytes')]);
  });

  it('the callback path has no version, and stands below the global prefix', async () => {
    const url = await boot(
      { insecure: true },
      {
        configure: (made) => {
          made.enableVersioning({ type: VersioningType.URI, defaultVersion: '2' });
          made.setGlobalPrefix('api');
        },
      },
    );
    const below = url.replace('/messaging/', '/api/messaging/');
    expect((await send(below, JSON.stringify(event))).status).toBe(204);
    expect((await send(url, JSON.stringify(event))).status).toBe(404);
  });
});
