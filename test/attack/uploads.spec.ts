import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { newSecret } from '../../src/accounts/credentials.js';
import { Webhook } from 'standardwebhooks';
import { newWebhookSecret } from '../../src/webhooks/webhook-signature.js';
import { describeEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { AttackedGateway, FRONT_DATABASES, pooledOn } from './attacked-gateway.js';
import { post, RawClient } from './raw-client.js';

const MiB = 1_048_576;
const SEND = '/ng/v1/sendsms';
const CALLBACKS = '/messaging/delivery-reports';
const SECRET = newWebhookSecret();

function signed(body: string, secret: string): Record<string, string> {
  const at = new Date();
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  };
}

describeEachDatabase(
  'clients that upload large bodies',
  (db) => {
    const gateway = new AttackedGateway();
    beforeAll(() =>
      gateway.start(db, {
        LOG_LEVEL: 'debug',
        // A loaded machine takes longer than the default for 1.2 GB.
        REQUEST_TIMEOUT: '10m',
        CARRIER: 'http',
        CARRIER_URL: 'http://127.0.0.1:9',
        CARRIER_TOKEN: newSecret('api_token'),
        CARRIER_CALLBACK_SECRET: SECRET,
        AUTH_FAILURE_LIMIT: '60/h',
      }),
    );
    afterAll(() => gateway.destroy());

    let clients: RawClient[] = [];
    const connect = async (count: number): Promise<void> => {
      clients = await Promise.all(
        Array.from({ length: count }, () => RawClient.connect(gateway.url)),
      );
    };
    afterEach(() => {
      for (const client of clients) client.destroy();
    });

    it('many unfinished uploads of one token hold the budget of the token at most, each time', async () => {
      const count = 300;
      const idle = await gateway.descriptors();
      const before = await gateway.running.rest();
      const begun = post(SEND, ' '.repeat(4 * MiB - 1), gateway.token, 4 * MiB);
      const unfinished = Buffer.from(begun);
      for (let attack = 0; attack < 2; attack++) {
        await connect(count);
        await gateway.whileHealthy(() =>
          Promise.all(clients.map((client) => client.write(unfinished))),
        );
        await eventually(async () => {
          const refused = clients.filter(({ statuses }) => statuses[0] === 429);
          // 32 MiB are 8 bodies.
          expect(refused.length).toBe(count - 8);
          expect(refused[0]?.answer).toMatch(/^retry-after: 1\r$/im);
        });
        // The server reads on for a while after it has refused a connection.
        await eventually(async () =>
          expect((await gateway.running.rest()).bytes - before.bytes).toBeLessThan(48 * MiB),
        );
        for (const client of clients) client.destroy();
        await eventually(async () => {
          expect(await gateway.descriptors()).toBeLessThanOrEqual(idle + pooledOn(db));
          expect((await gateway.running.rest()).bytes - before.bytes).toBeLessThan(16 * MiB);
        });
        await gateway.freed();
      }
      expect((await gateway.call('POST', SEND, '{}')).status).toBe(422);
    });

    it('large uploads that end leave no memory behind', async () => {
      const large = JSON.stringify({ from: 'ACME', to: [], body: 'x'.repeat(4 * MiB - 100) });
      for (let n = 0; n < 10; n++) {
        const answers = await Promise.all(
          Array.from({ length: 8 }, () => gateway.call('POST', SEND, large)),
        );
        expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 422));
      }
      await gateway.running.rest();
      await gateway.freed();
    });

    it('unfinished uploads without a credential hold the budget of their address at most', async () => {
      await connect(600);
      const unfinished = post(SEND, ' '.repeat(65_535), '', 65_536);
      await Promise.all(clients.map((client) => client.write(unfinished)));
      await eventually(async () =>
        expect(clients.filter(({ statuses }) => statuses[0] === 429)).toHaveLength(88),
      );
      // Another holder is admitted.
      const large = await gateway.call('POST', SEND, ' '.repeat(100_000));
      expect(large.status).toBe(400);
      for (const client of clients) client.destroy();
      await eventually(async () =>
        expect((await gateway.call('POST', SEND, ' '.repeat(60_000), '')).status).toBe(400),
      );
    });

    it('a chunked upload counts by the bytes that arrived', async () => {
      await connect(40);
      const chunk = `${MiB.toString(16)}\r\n${' '.repeat(MiB)}\r\n`;
      const head = `POST ${SEND} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
      await Promise.all(clients.map((client) => client.write(head + chunk)));
      await eventually(async () => {
        const refused = clients.filter(({ statuses }) => statuses[0] === 429).length;
        expect(refused).toBeGreaterThanOrEqual(8);
        expect(refused).toBeLessThan(40);
      });
      for (const client of clients) client.destroy();
      await eventually(async () =>
        expect((await gateway.call('POST', SEND, ' '.repeat(4 * MiB))).status).toBe(400),
      );
    });

    it.each([
      [
        '3.5 MB of unknown field names',
        `{${Array.from({ length: 400_000 }, (_, n) => `"${n.toString(36)}":1`).join()}}`,
      ],
      ['4 MB of nested lists', `{"to":${'['.repeat(2 * MiB - 100)}${']'.repeat(2 * MiB - 100)}}`],
    ])('%s are refused before they are parsed', async (_what, body) => {
      const answers = await gateway.whileHealthy(() =>
        Promise.all(Array.from({ length: 8 }, () => gateway.call('POST', SEND, body))),
      );
      for (const answer of answers) {
        expect(answer.status).toBe(422);
        expect(await answer.json()).toMatchObject({
          error: {
            details: [
              { path: '', message: 'must have at most 100 fields, and as many lists and objects' },
            ],
          },
        });
      }
    });

    it('colons and brackets within texts are no fields, lists or objects', async () => {
      const body = { from: 'ACME', to: [], body: '":[{'.repeat(50_000) };
      expect(await (await gateway.call('POST', SEND, JSON.stringify(body))).json()).toMatchObject({
        error: { details: [{ path: 'to' }] },
      });
    });

    it('unsigned callbacks are refused unparsed, then unread, and logged in a few lines', async () => {
      // No JSON: a parser would answer 400.
      const body = '{'.repeat(MiB);
      const answers: Response[] = [];
      const rounds = 10;
      for (let n = 0; n < rounds; n++)
        answers.push(
          ...(await Promise.all(
            Array.from({ length: 20 }, () =>
              fetch(gateway.url + CALLBACKS, {
                method: 'POST',
                headers: {
                  'content-type': 'application/json',
                  ...signed(body, newWebhookSecret()),
                },
                body,
              }),
            ),
          )),
        );
      const [unauthorized, limited] = [401, 429].map((code) =>
        answers.filter(({ status }) => status === code),
      );
      expect([unauthorized?.length, limited?.length]).toEqual([60, rounds * 20 - 60]);
      expect(Number(limited?.[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
      const told = gateway.running.output.split('\n').filter((line) => /"level":"warn"/.test(line));
      expect(told.filter((line) => /callback/i.test(line)).length).toBeLessThanOrEqual(3);
      // A provider's check of the address, which has no body and changes nothing, needs no signature.
      expect((await fetch(gateway.url + CALLBACKS)).status).toBe(200);

      await connect(1);
      await clients[0]?.write(post(CALLBACKS, '', '', MiB));
      await eventually(async () => expect(clients[0]?.statuses).toEqual([429]));
      clients.push(await RawClient.connect(gateway.url, '127.0.0.2'));
      const report = JSON.stringify({ data: { reference_id: 'x', status: 'delivered' } });
      await clients[1]?.write(post(CALLBACKS, report, '', report.length, signed(report, SECRET)));
      await eventually(async () => expect(clients[1]?.statuses).toEqual([204]));
    });

    it('each upload that ends with a reset is a debug line and no error line', async () => {
      const count = 300;
      await connect(count);
      const partial = post(SEND, ' '.repeat(1_000), gateway.token, 3_000);
      await Promise.all(clients.map((client) => client.write(partial)));
      await eventually(async () => expect(await gateway.descriptors()).toBeGreaterThan(count));
      for (const client of clients) client.reset();
      await eventually(async () => {
        const lines = gateway.running.output.split('\n');
        const told = lines.filter((line) => line.includes('"msg":"the client disconnected"'));
        expect(told.length).toBeGreaterThanOrEqual(count);
      });
      expect(gateway.running.output).not.toContain('"level":"error"');
    });
  },
  FRONT_DATABASES,
);
