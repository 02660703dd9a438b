import { createHmac } from 'node:crypto';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Webhook } from 'standardwebhooks';
import {
  allOf,
  anyOf,
  basicAuth,
  CallbackCounts,
  type CallbackOptions,
  hmacSignature,
  ipRanges,
  MessagingModule,
  sharedSecret,
  simulator,
} from '@dundun/messaging';
import { africasTalkingParser } from '@dundun/messaging/africas-talking';
import { infobipParser } from '@dundun/messaging/infobip';
import { twilioParser, twilioSignature } from '@dundun/messaging/twilio';
import { vonageParser } from '@dundun/messaging/vonage';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js';
import { platforms, ReportsApp, TO } from './reports-app.js';

const OTHER = '2348012345679';
const WHSEC = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const SECRET = 'a-secret-of-many-letters';
const ORIGIN = 'https://app.example.com';
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

const callbacks: CallbackOptions = {
  secrets: [WHSEC],
  providers: {
    twilio: {
      parser: twilioParser(),
      verifier: twilioSignature({ authToken: SECRET, origin: ORIGIN }),
    },
    vonage: {
      parser: vonageParser(),
      verifier: allOf(sharedSecret({ secret: SECRET }), ipRanges(['127.0.0.0/8', '::1'])),
    },
    'africas-talking': {
      parser: africasTalkingParser(),
      verifier: anyOf(
        basicAuth({ username: 'at', password: SECRET }),
        sharedSecret({ secret: SECRET, in: { query: 'token' } }),
      ),
    },
    infobip: {
      parser: infobipParser(),
      verifier: hmacSignature({ header: 'x-signature', secret: SECRET }),
    },
    elsewhere: { insecure: true, provider: 'another-provider' },
  },
};

function post(body: string, type: string, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': type, ...headers }, body };
}

/** As the interface's own service signs. */
function signed(body: string): Record<string, string> {
  const at = new Date();
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(WHSEC).sign('msg_1', at, body),
  };
}

let log: string[];
beforeEach(() => {
  log = [];
  for (const level of ['warn', 'error'] as const)
    jest.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => {
      log.push(String(line));
    });
});
afterEach(() => {
  jest.restoreAllMocks();
});

describeOneDatabase('callback endpoints', (database) => {
  describe.each(Object.keys(platforms))('on %s', (platform) => {
    let app: ReportsApp;
    beforeAll(async () => {
      app = await ReportsApp.start(database, { callbacks }, platform);
    });
    afterAll(() => app.close());

    const call = async (path: string, init?: RequestInit) =>
      (await fetch(`${app.url}${path}`, init)).status;
    const own = (body: string) => call('', post(body, JSON_TYPE, signed(body)));

    async function sent(reference: string, to: string | string[] = TO): Promise<string> {
      app.paper.answer = () => ({ reference });
      return app.sent(to);
    }

    it('a signed callback of the published interface is taken', async () => {
      const id = await sent('own-1', [TO, OTHER]);
      const data = { reference_id: 'own-1', to: TO, status: 'delivered' };
      const body = JSON.stringify([
        { type: 'sms.delivery_report', data },
        { ...data, to: OTHER },
      ]);
      expect(await call('', post(body, JSON_TYPE))).toBe(401);
      expect(await app.counts(id)).toEqual({ sent: 2 });
      expect(await own(body)).toBe(204);
      expect(await app.counts(id)).toEqual({ delivered: 2 });
    });

    it('a Twilio callback is verified over address and form', async () => {
      const id = await sent('SM-twilio');
      const fields = { MessageSid: 'SM-twilio', MessageStatus: 'delivered', To: `+${TO}` };
      const body = new URLSearchParams(fields).toString();
      const text = `${ORIGIN}/dlr/twilio?a=1MessageSidSM-twilioMessageStatusdeliveredTo+${TO}`;
      const signature = createHmac('sha1', SECRET).update(text).digest('base64');
      const init = post(body, FORM_TYPE, { 'x-twilio-signature': signature });
      expect(await call('/twilio?a=2', init)).toBe(401);
      expect(await call('/twilio?a=1', init)).toBe(204);
      expect(await app.counts(id)).toEqual({ delivered: 1 });
    });

    it('a Vonage GET callback is verified by path secret and address', async () => {
      const id = await sent('V-1');
      const fields = { messageId: 'V-1', msisdn: TO, status: 'expired' };
      const query = new URLSearchParams(fields).toString();
      expect(await call(`/vonage?${query}`)).toBe(401);
      expect(await call(`/vonage/wrong?${query}`)).toBe(401);
      expect(await call(`/vonage/${SECRET}?${query}`)).toBe(200);
      expect(await app.counts(id)).toEqual({ expired: 1 });
    });

    it("an Africa's Talking callback is verified by either of two proofs", async () => {
      const id = await sent('AT-1');
      const body = new URLSearchParams({ id: 'AT-1', status: 'Failed', phoneNumber: `+${TO}` });
      const init = post(body.toString(), FORM_TYPE);
      expect(await call('/africas-talking', init)).toBe(401);
      expect(await call(`/africas-talking?token=${SECRET}`, init)).toBe(204);
      const credentials = Buffer.from(`at:${SECRET}`).toString('base64');
      const basic = post(body.toString(), FORM_TYPE, { authorization: `Basic ${credentials}` });
      expect(await call('/africas-talking', basic)).toBe(204);
      expect(await app.counts(id)).toEqual({ undelivered: 1 });
    });

    it('the valid entries of an Infobip list are taken', async () => {
      const id = await sent('bulk-1', [TO, OTHER]);
      const result = (to: string, group: string) =>
        `{"bulkId":"bulk-1","messageId":"${to}","to":"${to}","status":{"groupName":"${group}"},"doneAt":"9999-01-01T00:00:00.000+0000"}`;
      const body = `{"results":[null,7,{"__proto__":{"messageId":"x"}},{"constructor":{"prototype":{"a":1}},"messageId":"x"},
        {"messageId":"a\\u0000b","status":{"name":"DELIVERED"}},{"messageId":{"a":[]},"status":[]},
        ${result(TO, 'DELIVERED')},${result(OTHER, 'HALF_WAY\\u0000')}]}`;
      const signature = createHmac('sha256', SECRET).update(body).digest('hex');
      expect(await call('/infobip', post(body, JSON_TYPE, { 'x-signature': signature }))).toBe(204);
      expect(await app.counts(id)).toEqual({ delivered: 1, sent: 1 });
      const { data } = await app.sms.reports({ batchIds: [id], to: OTHER });
      expect(data.at(-1)).toMatchObject({ status: null, rawStatus: 'HALF_WAY' });
      expect(app.get(CallbackCounts).snapshot().get('infobip')).toEqual({
        accepted: 1,
        refused: 0,
        reports: 2,
        unmapped: 1,
        messages: 0,
        unreadable: 6,
      });
      expect(log.join('\n')).toContain('status without a mapping: HALF_WAY');
      expect(log.join('\n')).not.toContain(TO);
    });

    it('reports of another provider match only messages of that provider', async () => {
      const id = await sent('shared-name');
      const body = JSON.stringify({ reference_id: 'shared-name', to: TO, status: 'failed' });
      expect(await call('/elsewhere', post(body, JSON_TYPE))).toBe(204);
      expect(await app.counts(id)).toEqual({ sent: 1 });
    });

    it('an unknown callback endpoint is 404', async () => {
      for (const path of ['/default', '/unknown', '/__proto__', '/constructor', '/twilio/a/b'])
        expect([path, await call(path, post('{}', JSON_TYPE))]).toEqual([path, 404]);
    });

    it('a callback above the size limit is 413 and the next one is taken', async () => {
      const large = JSON.stringify({ padding: 'x'.repeat(1_100_000) });
      expect(await own(large)).toBe(413);
      const id = await sent('own-2');
      expect(await own(JSON.stringify({ reference_id: 'own-2', status: 'delivered' }))).toBe(204);
      expect(await app.counts(id)).toEqual({ delivered: 1 });
    });

    it.each([
      ['half a JSON', '{"reference_id":'],
      ['NUL bytes', '\0\0\0'],
      ['a bare string', '"delivered"'],
      ['a number', '7'],
      ['an empty list', '[]'],
      ['a deep nest', `${'['.repeat(2_000)}${']'.repeat(2_000)}`],
    ])('%s does not crash', async (_what, body) => {
      expect([204, 400]).toContain(await own(body));
      const reference = `after-${body.length}`;
      const id = await sent(reference);
      await own(JSON.stringify({ reference_id: reference, to: TO, status: 'delivered' }));
      expect(await app.counts(id)).toEqual({ delivered: 1 });
    });

    it('an empty POST, with which providers check an address, is answered 200 and changes nothing', async () => {
      const id = await sent('after-nothing');
      expect(await call('', { method: 'POST' })).toBe(200);
      // Fastify itself refuses an empty body that is named JSON.
      expect(await own('')).toBe(platform === 'fastify' ? 400 : 200);
      await own(JSON.stringify({ reference_id: 'after-nothing', to: TO, status: 'delivered' }));
      expect(await app.counts(id)).toEqual({ delivered: 1 });
    });

    it('concurrent callbacks share commits', async () => {
      const recipients = Array.from({ length: 200 }, (_, n) => `23480${20_000_000 + n}`);
      const id = await sent(`crowd-${platform}`, recipients);
      app.statements.clear();
      const answers = await Promise.all(
        recipients.map((to) =>
          own(JSON.stringify({ reference_id: `crowd-${platform}`, to, status: 'delivered' })),
        ),
      );
      expect(new Set(answers)).toEqual(new Set([204]));
      expect(await app.counts(id)).toEqual({ delivered: 200 });
      const { transactions } = app.statements;
      expect(transactions).toBeGreaterThan(0);
      expect(transactions).toBeLessThan(recipients.length);
    });
  });
});

describeEachDatabase(
  'callback options',
  (database) => {
    const boot = (options: CallbackOptions) =>
      Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot(database.options()),
          MessagingModule.forRoot({ transport: simulator(), callbacks: options }),
        ],
      })
        .compile()
        .then((app) => app.close());

    it.each<[string, CallbackOptions]>([
      ['callbacks.secrets', { parser: twilioParser() }],
      ['callbacks.verifier', { secrets: [WHSEC], verifier: ipRanges(['::1']) }],
      ['callbacks.providers.twilio.secrets', { providers: { twilio: { parser: twilioParser() } } }],
      ['callbacks.providers.x.secrets[0]', { providers: { x: { secrets: ['whsec_short'] } } }],
      ['callbacks.providers.Big', { providers: { Big: { insecure: true } } }],
      ['callbacks.providers.default', { providers: { default: { insecure: true } } }],
      [
        'callbacks.providers.x.parser',
        { providers: { x: { insecure: true, parser: {} as never } } },
      ],
      ['callbacks.providers.x.verifier', { providers: { x: { verifier: {} as never } } }],
      ['callbacks.providers.x.provider', { providers: { x: { insecure: true, provider: '' } } }],
    ])('%s fails the boot', async (option, options) => {
      await expect(boot(options)).rejects.toMatchObject({
        name: 'MessagingConfigError',
        message: expect.stringContaining(`${option}: `),
      });
    });

    it('an insecure endpoint boots with a warning, and the root path is closed with providers alone', async () => {
      const app = await ReportsApp.start(
        database,
        { callbacks: { providers: { acme: { insecure: true } } } },
        'fastify',
      );
      try {
        expect(log.join()).toContain('callbacks.providers.acme.insecure');
        const init = post(JSON.stringify({ reference_id: 'r', status: 'sent' }), JSON_TYPE);
        expect((await fetch(app.url, init)).status).toBe(404);
        expect((await fetch(`${app.url}/acme`, init)).status).toBe(204);
      } finally {
        await app.close();
      }
    });
  },
  ['sqlite'],
);
