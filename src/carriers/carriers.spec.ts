import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallbackRequest } from '@dundun/messaging';
import type { Submission } from '@dundun/messaging/ports';
import type { WhatsAppCloudTransport } from '@dundun/messaging/whatsapp-cloud';
import { transportContext } from '../../test/support/transport-context.js';
import { WhatsAppCloudServer } from '../../test/support/whatsapp-cloud-server.js';
import { EnvironmentError, readEnvironment } from '../config/environment.js';
import { transportOf } from './carriers.js';

describe('CARRIERS_FILE', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-carriers-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function read(file: object | string, environment: Record<string, string> = {}) {
    const path = join(directory, 'carriers');
    await writeFile(path, typeof file === 'string' ? file : JSON.stringify(file));
    return readEnvironment({ CARRIERS_FILE: path, ...environment }).carriers;
  }
  async function problemsOf(file: object | string, environment?: Record<string, string>) {
    const error = await read(file, environment).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return error instanceof EnvironmentError ? error.problems : [error];
  }

  const A = { type: 'http', url: 'https://a.example.com', token: 'secret-of-a' };
  const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:sms';
  const AWS = {
    type: 'aws-sms',
    region: 'eu-west-1',
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: 'secret-of-a-user-of-aws',
  };
  const ROUTES = [{ channel: 'sms', use: 'a' }];

  it('reads carriers and routes of JSON, with variables of the environment and a rate', async () => {
    const carriers = {
      a: { ...A, token: '${A_TOKEN}', rate_limit: '20/s' },
      b: { type: 'simulator' },
    };
    const routes = [{ to: ['234'], use: { failover: ['a', 'b'] } }];
    const found = await read({ carriers, routes }, { A_TOKEN: 'tok-4711' });
    expect(found.routes).toEqual(routes);
    expect(found.all.map(({ name, type, rateLimit }) => [name, type, rateLimit])).toEqual([
      ['a', 'http', { max: 20, per: 1_000 }],
      ['b', 'simulator', undefined],
    ]);
    expect(found.all[0]?.shown).toEqual({
      url: 'https://a.example.com',
      token: '(secret)',
      rate_limit: '20/s',
    });
  });

  it('reads prices of carriers, and rules that compare them', async () => {
    const carriers = {
      a: { ...A, prices: '234=0.0030 *=0.02' },
      b: { type: 'simulator', prices: ['+234=0.0020', '233=1'] },
    };
    const routes = [{ maxPrice: '0.02', use: { cheapest: ['a', 'b'] } }];
    const found = await read({ carriers, routes });
    expect(found.all.map(({ prices }) => prices)).toEqual([
      { '234': '0.0030', '*': '0.02' },
      { '+234': '0.0020', '233': '1' },
    ]);
    expect(found.all[1]?.shown).toEqual({ prices: '+234=0.0020,233=1' });
  });

  it('reads rules that compare outcomes, and how they compare', async () => {
    const carriers = { a: A, b: { type: 'simulator' } };
    const routes = [{ channel: 'sms', use: { best: ['a', 'b'] } }];
    const found = await read({ carriers, routes, best: { window: '6h', explore: 0.1 } });
    expect(found.of('sms').map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await found.options({} as never)).toMatchObject({
      routes,
      best: { window: '6h', explore: 0.1 },
    });
  });

  it('reads YAML, whose prefixes may be numbers', async () => {
    const found = await read(`
carriers:
  a: { type: smpp, url: 'smpp://user:pw@smsc.example.com:2775', window: 20 }
routes:
  - { channel: sms, to: [234, '0233'], use: a }
`);
    expect(found.routes).toEqual([{ channel: 'sms', to: ['234', '0233'], use: 'a' }]);
    expect(found.all[0]?.shown).toMatchObject({ url: '(secret)', window: '20', long: 'udh' });
  });

  it('a whatsapp-cloud carrier sends from the number that is bound to Meta, and has callbacks', async () => {
    const cloud = await WhatsAppCloudServer.start();
    const { url, token, appSecret: app_secret, verifyToken: verify_token } = cloud;
    const meta = { type: 'whatsapp-cloud', url, token, app_secret, verify_token };
    const path = join(directory, 'carriers');
    const routes = [{ channel: 'whatsapp', use: 'meta' }];
    await writeFile(path, JSON.stringify({ carriers: { meta }, routes }));
    const ids = new Map([['2348000000001', cloud.phoneNumberId]]);
    const [found] = readEnvironment({ CARRIERS_FILE: path }).carriers.all;
    expect(found?.callbacks).toMatchObject({ parser: {}, verifier: {} });
    const make = await transportOf(found!, {
      phoneNumberIdOf: (number) => ids.get(number),
      mail: () => Promise.reject(new Error('there is no email')),
    });
    const transport = make(transportContext()) as WhatsAppCloudTransport;
    const message = { id: 's', channel: 'whatsapp', content: { kind: 'text', text: 'Hi' } };
    const submission = { ...message, sender: '2348000000001', recipients: ['2348012345678'] };
    await transport.submit(submission as unknown as Submission, new AbortController().signal);
    expect(cloud.taken).toMatchObject([{ text: { body: 'Hi' } }]);
    await transport.onApplicationShutdown();
    await cloud.close();
    const { verify_token: _left, ...without } = meta;
    expect(await problemsOf({ carriers: { meta: without }, routes })).toEqual([
      'CARRIERS_FILE carriers.meta.verify_token: is missing',
    ]);
  });

  it('callbacks of a sinch carrier have a secret address, unless they are signed', async () => {
    const secret = 'secret-of-the-callbacks-1234';
    const sinch = {
      type: 'sinch',
      service_plan_id: 'plan-1',
      api_token: 'token-of-the-plan',
      callback_url: 'https://sms.example.com',
      callback_secret: secret,
    };
    const verifierOf = async (more: object = {}) => {
      const carriers = { a: { ...sinch, ...more } };
      const { providers } = await (await read({ carriers, routes: ROUTES })).callbacks();
      return providers?.['a']?.verifier;
    };
    const request = (pathSecret?: string) =>
      ({ method: 'POST', url: '/', headers: {}, pathSecret }) as unknown as CallbackRequest;
    const [plain, signed] = [
      await verifierOf(),
      await verifierOf({ callback_proof: 'signature' }),
    ] as { verify(of: CallbackRequest): unknown }[];
    expect(plain?.verify(request(secret))).toBe(true);
    expect(plain?.verify(request('another-secret-of-theirs'))).toBe(false);
    expect(signed?.verify(request(secret))).toBe(false);
  });

  it('the carriers file leaves CARRIER and its variables without an effect', async () => {
    const path = join(directory, 'carriers');
    await writeFile(path, JSON.stringify({ carriers: { a: A }, routes: ROUTES }));
    const { carriers } = readEnvironment({ CARRIER: 'kannel', CARRIERS_FILE: path });
    expect(carriers.all.map(({ name }) => name)).toEqual(['a']);
    expect(carriers.of('email')).toEqual([]);
  });

  it.each<[string, object | string, string]>([
    ['no object', '[1]', 'CARRIERS_FILE'],
    ['a syntax error', '{"carriers": {', 'CARRIERS_FILE'],
    [
      'a key twice',
      '{"carriers": {"a": {"type": "simulator", "type": "http"}}, "routes": []}',
      'CARRIERS_FILE',
    ],
    ['no carriers', { carriers: {}, routes: ROUTES }, 'CARRIERS_FILE carriers: must be'],
    ['no routes', { carriers: { a: A } }, 'CARRIERS_FILE routes: must be a list'],
    [
      'an unknown key of the file',
      { carriers: { a: A }, routes: ROUTES, rules: [] },
      'CARRIERS_FILE rules: there is no such key',
    ],
    [
      'a wrong name',
      { carriers: { 'A B': A }, routes: ROUTES },
      'CARRIERS_FILE carriers.A B: the name must be',
    ],
    [
      'no type',
      { carriers: { a: { url: 'x' } }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.type: is missing',
    ],
    [
      'an unknown type',
      { carriers: { a: { type: 'telegraph' } }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.type: must be one of simulator, http',
    ],
    [
      'a missing key',
      { carriers: { a: { type: 'http' } }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.url: is missing',
    ],
    [
      'a wrong value',
      { carriers: { a: { ...A, url: 'ftp://x' } }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.url: must be an address',
    ],
    [
      'an unknown key',
      { carriers: { a: { ...A, tokn: 'x' } }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.tokn: there is no such key; there are type, url, token',
    ],
    [
      'a value of a wrong type',
      { carriers: { a: { ...A, url: { x: 1 } } }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.url: must be a text',
    ],
    [
      'a variable that is not set',
      { carriers: { a: { ...A, token: '${NOT_SET}' } }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.token: names ${NOT_SET}',
    ],
    [
      'a wrong rate',
      { carriers: { a: { ...A, rate_limit: 'fast' } }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.rate_limit: must be messages per time',
    ],
    [
      'wrong prices',
      { carriers: { a: { ...A, prices: '234:1' } }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.prices: must be prefixes of numbers with prices',
    ],
    [
      'a carrier without prices among the cheapest',
      {
        carriers: { a: { ...A, prices: '234=1' }, b: { type: 'simulator' } },
        routes: [{ use: { cheapest: ['a', 'b'] } }],
      },
      'CARRIERS_FILE routes[0].use: provider b has no prices',
    ],
    [
      'a comparison of outcomes with a share above the half',
      {
        carriers: { a: A, b: { type: 'simulator' } },
        routes: [{ use: { best: ['a', 'b'] } }],
        best: { explore: 0.6 },
      },
      'CARRIERS_FILE best.explore: must be a number from 0 to 0.5',
    ],
    [
      'half of a pair',
      {
        carriers: {
          a: {
            type: 'vonage',
            api_key: 'abcd1234',
            signature_secret: 'a-secret-of-a-carrier-1234',
            callback_url: 'https://sms.example.com',
          },
        },
        routes: ROUTES,
      },
      'CARRIERS_FILE carriers.a.api_secret: is missing',
    ],
    [
      'an account of a wrong form',
      {
        carriers: {
          a: {
            type: 'twilio',
            account_sid: 'AC1',
            auth_token: 'secret-of-a',
            callback_url: 'https://sms.example.com',
            content_sids: 'order_update=MG1',
          },
        },
        routes: ROUTES,
      },
      'CARRIERS_FILE carriers.a.account_sid: must be AC',
    ],
    [
      'callbacks without a proof',
      { carriers: { a: AWS }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.topic_arn: is missing; events by EventBridge have callback_secret',
    ],
    [
      'callbacks with two proofs',
      {
        carriers: { a: { ...AWS, topic_arn: TOPIC, callback_secret: 'secret-of-a-of-aws' } },
        routes: ROUTES,
      },
      'CARRIERS_FILE carriers.a.callback_secret: is one too many: topic_arn proves the callbacks',
    ],
    [
      'a topic of a wrong form',
      { carriers: { a: { ...AWS, topic_arn: [TOPIC, 'arn:aws:sqs:x'] } }, routes: ROUTES },
      'CARRIERS_FILE carriers.a.topic_arn: must be the ARN of a topic',
    ],
    [
      'a rule with an unknown carrier',
      { carriers: { a: A }, routes: [{ use: 'z' }] },
      "CARRIERS_FILE routes[0].use: there is no provider 'z'",
    ],
    [
      'a rule that is no object',
      { carriers: { a: A }, routes: ['a'] },
      'CARRIERS_FILE routes[0]: must be',
    ],
    [
      'a rule that never fits',
      { carriers: { a: A }, routes: [{ use: 'a' }, ...ROUTES] },
      'CARRIERS_FILE routes[1]: can never match',
    ],
  ])('names the key of %s, without its value', async (_, file, problem) => {
    const problems = await problemsOf(file);
    expect(problems).toContainEqual(expect.stringContaining(problem));
    expect(String(problems)).not.toContain('secret-of-a');
  });

  it('names a file that cannot be read', () => {
    const read = () => readEnvironment({ CARRIERS_FILE: join(directory, 'missing') });
    expect(read).toThrow(/CARRIERS_FILE: .*missing cannot be read \(ENOENT\)/);
  });

  it('the carriers file refuses weak secrets in production, and the name of a carrier with a variable of its own', async () => {
    const file = { carriers: { a: { ...A, token: 'short' }, smtp: A }, routes: ROUTES };
    const problems = await problemsOf(file, {
      NODE_ENV: 'production',
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      PUBLIC_URL: 'https://sms.example.com',
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: 'smtp://user:a-long-password-of-the-relay@relay.example.com',
    });
    expect(problems).toContainEqual(expect.stringContaining('carriers.a.token: is shorter than'));
    expect(problems).toContainEqual(expect.stringContaining('carriers.smtp: EMAIL_CARRIER'));
  });
});
