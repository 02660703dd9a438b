import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createHmac, randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { newSecret } from '../../../src/accounts/credentials.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { fillGroups, fillSuppressions, fillUnreported } from '../../support/filled-store.js';
import { RecordingServer } from '../../support/recording-server.js';
import { type ProbedGateway, Processes } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';

/** Most CPU time of one turn of the event loop, in milliseconds: other requests wait for it. */
const MOST = 100;

/** The first requests of a kind compile code, and collections of garbage come at any time. */
const TRIES = 5;

const CONTACTS = 100_000;
/** More than the store caches. */
const REQUESTS = 150;
const DENIED = Array.from({ length: 20_000 }, (_, n) => `2349${10_000_000 + n}`);
const LATER = '2100-01-01T00:00:00Z';

/** The numbers of the contacts, and of the messages without reports. */
const numberOf = (n: number): string => `2348${10_000_000 + n}`;
const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => numberOf(n));

describeEachDatabase(
  'the event loop of a gateway',
  (db) => {
    const processes = new Processes();
    const secret = randomBytes(32);
    // The carrier has no reports, and the customer's endpoint does not answer.
    const carrier = new RecordingServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"data":[],"next_cursor":null}');
    });
    const customer = new RecordingServer(() => undefined);
    let gateway: ProbedGateway;
    let source: DataSource;
    let account: { account_id: string; api_token: string; api_key: string };
    let guarded: typeof account;
    let groups: string[];
    let unreported: string;

    beforeAll(async () => {
      await Promise.all([buildGateway(), carrier.listen(), customer.listen()]);
      const settings = {
        DATABASE_URL: db.url,
        WEBHOOK_ALLOW_PRIVATE: 'true',
        CARRIER: 'http',
        EMAIL_CARRIER: 'simulator',
        CARRIER_URL: carrier.url,
        CARRIER_TOKEN: newSecret('api_token'),
        CARRIER_CALLBACK_SECRET: `whsec_${secret.toString('base64')}`,
      };
      const dundun = async (...args: string[]): Promise<string> =>
        (await processes.dundun([...args, '--json'], settings)).stdout;
      account = JSON.parse(await dundun('account', 'create', '--name', 'acme')) as typeof account;
      const own = ['--account', account.account_id];
      await dundun('sender', 'add', ...own, '--sender', 'ACME');
      await dundun('webhook', 'set', ...own, '--url', `${customer.url}/reports`);
      await dundun('domain', 'add', ...own, '--domain', 'shop.example');
      guarded = JSON.parse(
        await dundun('account', 'create', '--name', 'guarded'),
      ) as typeof account;
      const limited = ['--account', guarded.account_id];
      await dundun('sender', 'add', ...limited, '--sender', 'GUARDED');
      const limits = ['--recipient', '100/h', '--prefix', '1000000/h', '--range', '100/h'];
      await dundun('account', 'guard', ...limited, ...limits, '--growth', '5:10000000:alert');
      source = await db.open();
      await source.query(
        "UPDATE gateway_email_domain SET status = 'verified', verified_name = 'shop.example'",
      );
      await fillSuppressions(source, db.kind, account.account_id, DENIED.length);
      groups = await fillGroups(source, db.kind, account.account_id, CONTACTS, 4);
      unreported = await fillUnreported(source, db.kind, account.account_id, 'http', REQUESTS);
      gateway = await processes.probedGateway(settings);
      await gateway.longestTurn();
    });
    afterAll(async () => {
      await processes.destroy();
      await Promise.all([carrier.close(), customer.close()]);
    });

    interface Answer {
      readonly status: number;
      readonly body: Readonly<Record<string, unknown>>;
    }

    async function ask(
      method: string,
      path: string,
      body?: string,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Answer> {
      const isByKey = /^\/(?:whatsapp|email|ng\/v1\/notifications)/.test(path);
      const token = isByKey ? account.api_key : account.api_token;
      const answer = await fetch(gateway.url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body }),
      });
      const text = await answer.text();
      return {
        status: answer.status,
        body: text === '' ? {} : (JSON.parse(text) as Answer['body']),
      };
    }

    const send = (to: readonly string[], more: object = {}, key?: string): Promise<Answer> =>
      ask(
        'POST',
        '/ng/v1/sendsms',
        JSON.stringify({ from: 'ACME', to, body: 'Hello', send_at: LATER, ...more }),
        key === undefined ? {} : { 'idempotency-key': key },
      );

    const callback = (reports: readonly object[]): Promise<Answer> =>
      signedCallback(JSON.stringify(reports));

    function signedCallback(body: string): Promise<Answer> {
      const id = randomBytes(8).toString('hex');
      const time = String(Math.floor(Date.now() / 1_000));
      const signature = createHmac('sha256', secret).update(`${id}.${time}.${body}`);
      return ask('POST', '/messaging/delivery-reports', body, {
        'webhook-id': id,
        'webhook-timestamp': time,
        'webhook-signature': `v1,${signature.digest('base64')}`,
      });
    }

    /** The longest turn of `work`, of the try in which it was shortest. */
    async function longestTurnOf(work: (attempt: number) => Promise<unknown>): Promise<number> {
      let least = Infinity;
      for (let attempt = 0; attempt < TRIES && least > MOST; attempt++) {
        await gateway.longestTurn();
        await work(attempt);
        least = Math.min(least, await gateway.longestTurn());
      }
      return least;
    }

    it('a send of 4 MB to 100,000 contacts, and its repetition, leave other requests their turns', async () => {
      const all = numbers(CONTACTS);
      const to = [...all, ...all, ...all.slice(0, 50_000)];
      const sent = { status: 200, body: { recipients_processed: CONTACTS } };
      const sending = longestTurnOf(async (n) =>
        expect(await send(to, {}, `large-${n}`)).toMatchObject(sent),
      );
      expect(await sending).toBeLessThan(MOST);
      const replaying = longestTurnOf(async () =>
        expect(await send(to, {}, 'large-0')).toMatchObject(sent),
      );
      expect(await replaying).toBeLessThan(MOST);
    });

    it('a send to 100,000 contacts whose limits against abuse count each one leaves other requests their turns', async () => {
      const body = { from: 'GUARDED', to: numbers(CONTACTS), body: 'Hello', send_at: LATER };
      const headers = { authorization: `Bearer ${guarded.api_token}` };
      const sending = longestTurnOf(async () =>
        expect(await ask('POST', '/ng/v1/sendsms', JSON.stringify(body), headers)).toMatchObject({
          status: 200,
          body: { recipients_processed: CONTACTS },
        }),
      );
      expect(await sending).toBeLessThan(MOST);
    });

    it('a send to four groups of 100,000 leaves other requests their turns', async () => {
      const sending = longestTurnOf(async () =>
        expect(await send(groups)).toMatchObject({
          status: 200,
          body: { recipients_processed: CONTACTS },
        }),
      );
      expect(await sending).toBeLessThan(MOST);
    });

    it('a send that policy denies to 20,000 recipients leaves other requests their turns', async () => {
      const sending = longestTurnOf(async () => {
        const { status, body } = await send([numberOf(0), ...DENIED], { delivery_report: 'yes' });
        expect(status).toBe(200);
        const read = await ask('GET', `/ng/v1/sms/${String(body['reference_id'])}`);
        expect(read.body['counts']).toEqual({ queued: 1, rejected: DENIED.length });
      });
      expect(await sending).toBeLessThan(MOST);
    });

    it('a body of nested lists leaves other requests their turns', async () => {
      const depth = 2_000_000;
      const body = `{"from":"ACME","body":"\\u0041","to":${'['.repeat(depth)}${']'.repeat(depth)}}`;
      const sending = longestTurnOf(async () =>
        expect((await ask('POST', '/ng/v1/sendsms', body)).status).toBe(422),
      );
      expect(await sending).toBeLessThan(MOST);
    });

    it('different short texts in place of numbers leave other requests their turns', async () => {
      const to = Array.from({ length: 550_000 }, (_, n) => (n + 50_000).toString(36));
      const sending = longestTurnOf(async () => expect((await send(to)).status).toBe(422));
      expect(await sending).toBeLessThan(MOST);
    });

    it('a callback with reports of 150 requests leaves other requests their turns', async () => {
      // The reports of each request are far apart.
      const reports = Array.from({ length: 30_000 }, (_, n) => {
        const request = n % REQUESTS;
        const to = numberOf(request * 1_000 + Math.floor(n / REQUESTS));
        return { reference_id: `ref-${request}`, to, status: 'delivered' };
      });
      const recording = longestTurnOf(async (n) =>
        expect((await callback(reports.slice(n * 10_000, (n + 1) * 10_000))).status).toBe(204),
      );
      expect(await recording).toBeLessThan(MOST);
      const { body } = await ask('GET', `/ng/v1/sms/${unreported}`);
      expect(body['counts']).toMatchObject({ delivered: expect.any(Number) });
    });

    it('a callback with unmatched reports leaves other requests their turns', async () => {
      const recording = longestTurnOf(async (n) => {
        const reports = Array.from({ length: 20_000 }, (_, index) => {
          return { reference_id: `none-${n * 20_000 + index}`, status: 'sent' };
        });
        expect((await callback(reports)).status).toBe(204);
      });
      expect(await recording).toBeLessThan(MOST);
    });

    it('a poll for 150,000 reports leaves other requests their turns', async () => {
      // Each poll asks for the first request once.
      const polls = (): number =>
        carrier.requests.filter(({ url }) => url.includes('reference_id=ref-0&')).length;
      const polling = longestTurnOf(async () => {
        const before = polls();
        await source.query(`UPDATE messaging_batch SET poll_at = 1 WHERE id = '${unreported}'`);
        await eventually(async () => expect(polls()).toBeGreaterThan(before));
      });
      expect(await polling).toBeLessThan(MOST);
    });

    it('reading, cancelling and deleting large batches leave other requests their turns', async () => {
      const { body } = await send(numbers(CONTACTS));
      const batch = `/ng/v1/sms/${String(body['reference_id'])}`;
      const requests: readonly (readonly [method: string, path: string])[] = [
        ['GET', batch],
        ['GET', `${batch}/recipients?limit=1000`],
        ['GET', '/ng/v1/sms?limit=100'],
        ['GET', `/ng/v1/sms/${unreported}/reports?limit=1000`],
        ['GET', '/ng/v1/deliveryreports?limit=1000'],
        ['GET', `/ng/v1/deliveryreports?limit=1000&to=${numberOf(0)}`],
        ['GET', '/ng/v1/groups'],
        ['GET', `/ng/v1/groups/${groups[0]}/members?limit=1000`],
        ['GET', '/whatsapp/ng/v1/contacts?limit=1000'],
        ['DELETE', batch],
        ['DELETE', `/whatsapp/ng/v1/contacts/${numberOf(0)}`],
        ['DELETE', `/ng/v1/groups/${groups[0]}`],
      ];
      const wrong: unknown[] = [];
      for (const [method, path] of requests) {
        const statuses: number[] = [];
        const turn = await longestTurnOf(async () =>
          statuses.push((await ask(method, path)).status),
        );
        const [status = 0] = statuses;
        if (turn > MOST || status > 299) wrong.push({ method, path, turn, status });
      }
      expect(wrong).toEqual([]);
    });

    it('large emails leave other requests their turns', async () => {
      const common = { from: 'a@shop.example', subject: 'Hello', text: 'Hello', send_at: LATER };
      const bytes = randomBytes(17 * 1_048_576).toString('base64');
      const attachment = { filename: 'a.pdf', content_type: 'application/pdf', content: bytes };
      const people = Array.from({ length: CONTACTS }, (_, n) => {
        const variables = { first: `First ${n}`, last: `Last ${n}`, unused: 'x' };
        return { email: `user${n}@example.com`, name: `Name ${n}`, variables };
      });
      const subject = 'Hello {{first}} {{last}}';
      const many = Array.from({ length: 1_000 }, (_, n) => {
        return { ...common, to: [`user${n}@example.com`], text: 'x'.repeat(38_000) };
      });
      const bodies: readonly (readonly [path: string, body: object])[] = [
        ['messages', { ...common, to: ['a@example.com'], attachments: [attachment] }],
        ['messages', { ...common, subject, recipients: people }],
        ['messages/batch', { messages: many }],
      ];
      for (const [path, body] of bodies) {
        const json = JSON.stringify(body);
        const sending = longestTurnOf(async () =>
          expect((await ask('POST', `/email/ng/v1/${path}`, json)).status).toBe(200),
        );
        expect(await sending).toBeLessThan(MOST);
      }
    });

    it('the longest texts and attachments of an email leave other requests their turns', async () => {
      const common = { from: 'a@shop.example', subject: 'Hello', send_at: LATER };
      const to = ['a@example.com'];
      const html = '<p class="x">Hello "you"</p>\n';
      const bytes = randomBytes(24 * 1_048_576).toString('base64');
      const attachment = { filename: 'a.pdf', content_type: 'application/pdf', content: bytes };
      const lines = '"\n'.repeat(2_400_000);
      const bodies: Readonly<Record<string, object>> = {
        quotes: { ...common, to, text: lines, html: lines },
        html: { ...common, to, text: html.repeat(180_000), html: html.repeat(180_000) },
        letters: { ...common, to, text: 'é年'.repeat(1_000_000), html: 'é年'.repeat(1_000_000) },
        variables: {
          ...common,
          recipients: [{ email: 'a@example.com', variables: { n: '' } }],
          text: '{{n}}'.repeat(1_000_000),
        },
        attachment: { ...common, to, text: 'Hello', attachments: [attachment] },
      };
      const turns: Record<string, number> = {};
      for (const [name, body] of Object.entries(bodies)) {
        const json = JSON.stringify(body);
        turns[name] = await longestTurnOf(async () => {
          const { status, body: answer } = await ask('POST', '/email/ng/v1/messages', json);
          expect([name, status, answer['error']]).toEqual([name, 200, undefined]);
        });
      }
      const long = Object.entries(turns).filter(([, turn]) => turn > MOST);
      expect(long).toEqual([]);
    });

    it('large emails that are refused leave other requests their turns', async () => {
      const common = { from: 'a@shop.example', subject: 'Hello', text: 'Hello' };
      const addresses = Array.from({ length: 1_000_000 }, (_, n) => `u${n}@example.com`);
      const names = Object.fromEntries(addresses.slice(0, 900_000).map((one) => [one, '']));
      const variables = addresses.slice(0, 400_000).map((_, n) => `{{v${n}}}`);
      const bodies: readonly object[] = [
        { ...common, to: addresses },
        { ...common, recipients: addresses },
        { ...common, recipients: ['a@example.com'], text: variables.join('') },
        { ...common, to: ['a@example.com'], metadata: names },
        { ...common, to: ['a@example.com'], attachments: [{ content: '\\'.repeat(17_000_000) }] },
        { ...common, to: ['a@example.com'], tags: addresses },
      ];
      for (const body of bodies) {
        const json = JSON.stringify(body);
        const sending = longestTurnOf(async () =>
          expect((await ask('POST', '/email/ng/v1/messages', json)).status).toBe(422),
        );
        expect(await sending).toBeLessThan(MOST);
      }
    });

    it('large notifications leave other requests their turns', async () => {
      const email = { from: 'a@shop.example', subject: 'Hello', text: 'Hello' };
      const common = { to: 'a@example.com', via: ['email'], email, send_at: LATER };
      const many = Array.from({ length: 150_000 }, (_, n) => `u${n}@example.com`);
      const bodies: readonly (readonly [status: number, body: object])[] = [
        [200, { ...common, email: { ...email, html: '<p>Hello "you"</p>\n'.repeat(180_000) } }],
        [200, { ...common, email: { ...email, text: '"\n'.repeat(1_000_000) } }],
        [422, { ...common, via: many }],
        [422, { ...common, to: many }],
        [422, { ...common, tags: many }],
        [422, { ...common, via: ['sms'], sms: { from: 'ACME', body: 'x'.repeat(4_000_000) } }],
      ];
      for (const [status, body] of bodies) {
        const json = JSON.stringify(body);
        const sending = longestTurnOf(async () =>
          expect((await ask('POST', '/ng/v1/notifications', json)).status).toBe(status),
        );
        expect(await sending).toBeLessThan(MOST);
      }
    });

    it('signed callbacks of a megabyte that cannot be read leave other requests their turns', async () => {
      const bodies = [
        '['.repeat(524_000) + ']'.repeat(524_000),
        `[${'1,'.repeat(500_000)}1]`,
        `[${'{},'.repeat(340_000)}{}]`,
        `[${'{"data":1},'.repeat(95_000)}{}]`,
      ];
      for (const body of bodies) {
        const recording = longestTurnOf(async () =>
          expect((await signedCallback(body)).status).toBe(400),
        );
        expect(await recording).toBeLessThan(MOST);
      }
    });
  },
  ['sqlite', 'postgres'],
);
