import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../../support/databases.js';
import { fillGroups, fillUnreported } from '../../support/filled-store.js';
import { type ProbedGateway, Processes } from '../gateway/built-gateway.js';
import { buildGateway } from '../../support/builds.js';
import { limitTests } from '../../support/time-limit.js';
import { codeOf, PASSWORD } from './portal-client.js';

// The largest legal requests one after the other, each up to three times.
limitTests(900);

/** Most CPU time of one turn of the event loop, in milliseconds: other requests wait for it. */
const MOST = 100;

/** The first requests of a kind compile code, and collections of garbage come at any time. */
const TRIES = 3;

const CONTACTS = 100_000;
const LATER = '2100-01-01T00:00:00Z';

type Asked = readonly [method: string, path: string, body?: object, status?: number];

const numbers = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `2348${10_000_000 + n}`);

describeEachDatabase(
  'the event loop of a gateway whose portal is used',
  (db) => {
    const processes = new Processes();
    let gateway: ProbedGateway;
    let cookie = '';
    let operator = '';
    let groupId: string;

    beforeAll(async () => {
      await buildGateway();
      const settings = { DATABASE_URL: db.url, CARRIER: 'simulator' };
      const dundun = async (...args: string[]) =>
        JSON.parse((await processes.dundun([...args, '--json'], settings)).stdout) as {
          account_id: string;
          link: string;
        };
      const { account_id: account } = await dundun('account', 'create', '--name', 'acme');
      const of = ['--account', account];
      await dundun('sender', 'add', ...of, '--sender', 'ACME');
      const { link } = await dundun('user', 'invite', ...of, '--role', 'admin');
      const invited = await dundun('user', 'invite', '--role', 'operator');
      const source = await db.open();
      [groupId = ''] = await fillGroups(source, db.kind, account, CONTACTS, 1);
      await fillUnreported(source, db.kind, account, 'simulator', 100);
      gateway = await processes.probedGateway(settings);
      const signUp = async (code: string, email: string): Promise<string> => {
        const answer = await ask('POST', 'setup', { code, email, password: PASSWORD }, '');
        return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      };
      cookie = await signUp(codeOf(link), 'ada@example.com');
      operator = await signUp(codeOf(invited.link), 'grace@example.com');
    });
    afterAll(() => processes.destroy());

    const ask = async (
      method: string,
      path: string,
      body?: object,
      by = cookie,
    ): Promise<Response> => {
      const answer = await fetch(`${gateway.url}/portal/api/${path}`, {
        method,
        headers: {
          'sec-fetch-site': 'same-origin',
          ...(by && { cookie: by }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      await answer.arrayBuffer();
      return answer;
    };

    /** Requests with another answer, or with a turn that is too long each time. */
    const tooLong = async (requests: readonly Asked[], by: string): Promise<unknown[]> => {
      const found: unknown[] = [];
      for (const [method, path, body, status = 200] of requests) {
        let least = Infinity;
        let answered = 0;
        for (let attempt = 0; attempt < TRIES && least > MOST; attempt++) {
          await gateway.longestTurn();
          answered = (await ask(method, path, body, by)).status;
          least = Math.min(least, await gateway.longestTurn());
        }
        if (least > MOST || answered !== status) found.push({ method, path, least, answered });
      }
      return found;
    };

    it('large sends, imports, lists, counts and files leave other requests their turns', async () => {
      const message = {
        channel: 'sms',
        from: 'ACME',
        to: numbers(CONTACTS),
        content: { kind: 'text', text: 'Hello' },
        sendAt: LATER,
      };
      const toGroup = { ...message, to: [groupId] };
      const wrong = { ...message, to: numbers(CONTACTS).map((number) => `x${number}`) };
      const rows = numbers(80_000).map((number) => `${number},Name of ${number},opted_in`);
      const csv = ['phone,name,whatsapp', ...rows].join('\n');
      const requests: readonly Asked[] = [
        ['POST', 'messages/estimate', message],
        ['POST', 'messages/estimate', wrong],
        ['POST', 'messages/estimate', toGroup],
        ['POST', 'messages', message, 201],
        ['POST', 'messages', toGroup, 201],
        ['POST', 'messages', wrong, 422],
        ['POST', 'contacts/import', { csv }],
        ['POST', `groups/${groupId}/members`, { members: numbers(10_000) }],
        ['GET', 'messages?limit=200'],
        ['GET', 'messages?status=delivered&limit=200'],
        ['GET', 'messages?to=2348019999999'],
        ['GET', 'messages/export?reveal=true'],
        ['GET', 'batches?limit=200'],
        ['GET', 'stats?interval=hour'],
        ['GET', 'changes'],
        ['GET', 'contacts?limit=200'],
        ['GET', 'contacts/export'],
        ['GET', `groups/${groupId}/members?limit=100`],
        ['GET', `groups/${groupId}/members.csv`],
        ['GET', 'phones'],
        ['GET', 'audit?limit=100'],
      ];
      expect(await tooLong(requests, cookie)).toEqual([]);
    });

    it('a rate card of 90,000 prices is previewed, imported and compared between other requests', async () => {
      const rows = Array.from({ length: 90_000 }, (_, n) => `sms,2348${1_000_000 + n},4.${n % 7},`);
      const file = (of: readonly string[]) => ({
        csv: ['channel,prefix,price,billing', ...of].join('\n'),
        card: 'default',
        currency: 'NGN',
      });
      const stored = await ask('POST', 'rates', file(rows.slice(0, 10)), operator);
      expect(stored.status).toBe(201);
      const dear = rows.map((row) => row.replace(',4.', ',5.'));
      const wrong = rows.map((row) => `${row}free`);
      const requests: readonly Asked[] = [
        ['POST', 'rates/preview', file(rows)],
        ['POST', 'rates/preview', file(wrong), 422],
        ['POST', 'rates', file(rows), 201],
        ['POST', 'rates/preview', file(dear)],
        ['GET', 'rates'],
        ['GET', 'rates/find?card=default&number=2348100001234'],
      ];
      expect(await tooLong(requests, operator)).toEqual([]);
    });
  },
  ['sqlite', 'postgres'],
);
