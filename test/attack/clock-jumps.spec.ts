import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { Processes, type RunningGateway } from '../e2e/gateway/built-gateway.js';
import { buildGateway } from '../support/builds.js';
import { Receiver } from '../integration/webhooks/receiver.js';
import { describeEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { type AcceptedRequest, InterfaceServer } from '../support/interface-server.js';
import { describeWithServer } from '../support/servers.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Messages of a batch; at the rate of the account they take more than a second. */
const RECIPIENTS = 120;
const CARRIER_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

describeWithServer('faketime', 'a gateway whose clock jumps', () => {
  describeEachDatabase(
    'a clock that jumps',
    (database) => {
      const processes = new Processes();
      const isSqlite = database.kind === 'sqlite';
      /** When the carrier got the first request with a number, by the clock of the database. */
      const takenAt = new Map<string, number>();
      let carrier: InterfaceServer;
      let receiver: Receiver;
      let gateway: RunningGateway;
      let token = '';
      let hook: Webhook;
      let recipients = 0;
      /** Milliseconds by which the gateway's clock is ahead of ours. */
      let ahead = 0;

      /** SQLite has the gateway's clock, a server its own. */
      const databaseNow = () => Date.now() + (isSqlite ? ahead : 0);

      async function jump(to: number): Promise<void> {
        const file = join(await processes.directory(), 'clock');
        await writeFile(`${file}.new`, `+${to / 1_000}\n`);
        ahead = to;
        // The gateway never reads half of it.
        await rename(`${file}.new`, file);
      }

      async function start(): Promise<RunningGateway> {
        return processes.gateway({
          LD_PRELOAD: '/usr/$LIB/faketime/libfaketimeMT.so.1',
          FAKETIME_TIMESTAMP_FILE: join(await processes.directory(), 'clock'),
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          DATABASE_URL: database.url,
          CARRIER: 'http',
          CARRIER_URL: carrier.url,
          CARRIER_TOKEN: carrier.apiToken,
          CARRIER_CALLBACK_SECRET: CARRIER_SECRET,
          RATE_LIMIT: '100/s',
          LEASE: '1s',
          WEBHOOK_ALLOW_PRIVATE: 'true',
        });
      }

      beforeAll(async () => {
        await buildGateway();
        carrier = await InterfaceServer.start();
        carrier.answer(({ method, body }) => {
          if (method === 'POST')
            for (const to of recipientsOf(body))
              if (!takenAt.has(to)) takenAt.set(to, databaseNow());
          return false;
        });
        receiver = await Receiver.start();
        await jump(0);
        gateway = await start();
        token = String(await gateway.told(/tok_[0-9A-Za-z]{49}/));
        const made = await call('POST', 'webhooks', { url: receiver.url });
        hook = new Webhook(String(made['secret']));
      });
      afterAll(async () => {
        await processes.destroy();
        await carrier.close();
        await receiver.close();
      });

      async function call(method: string, path: string, body: object) {
        const response = await fetch(`${gateway.url}/ng/v1/${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        const answer = (await response.json()) as Record<string, unknown>;
        if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
        return answer;
      }

      /** To new recipients, at a time of the database's clock. */
      async function send(count: number, at?: number): Promise<string[]> {
        const to = Array.from({ length: count }, () => String(2_348_000_000_000 + recipients++));
        const later = at === undefined ? {} : { send_at: new Date(at).toISOString() };
        const message = { from: 'ACME', to, body: 'Hello', delivery_report: 'yes' };
        await call('POST', 'sendsms', { ...message, ...later });
        return to;
      }

      async function underWay(): Promise<string[]> {
        const batch = await send(RECIPIENTS);
        await eventually(async () =>
          expect(batch.filter((to) => takenAt.has(to)).length).toBeGreaterThan(20),
        );
        expect(batch.every((to) => takenAt.has(to))).toBe(false);
        return batch;
      }

      async function expectSentOnce(batch: readonly string[]): Promise<void> {
        await eventually(async () => expect(batch.filter((to) => !takenAt.has(to))).toEqual([]));
        const book = [...carrier.accepted.values()].flatMap(({ body }) => recipientsOf(body));
        expect(book.filter((to) => batch.includes(to))).toHaveLength(batch.length);
      }

      /** Each message has one callback, with a signature and a time of the gateway's clock. */
      async function expectReportedOnce(batch: readonly string[], clocks: readonly number[]) {
        const reported = () =>
          receiver.received.flatMap((received) => {
            const { to, status } = received.data as unknown as { to: string; status: string };
            return status === 'sent' && batch.includes(to) ? [{ to, received }] : [];
          });
        await eventually(async () =>
          expect(reported().length).toBeGreaterThanOrEqual(batch.length),
        );
        expect(reported().map(({ to }) => to)).toEqual(expect.arrayContaining([...batch]));
        expect(reported()).toHaveLength(batch.length);
        for (const { received } of reported()) {
          const at = new Date(Number(received.headers['webhook-timestamp']) * 1_000);
          const signature = hook.sign(received.id, at, received.body);
          expect(received.headers['webhook-signature']).toBe(signature);
          const off = clocks.map((clock) => Math.abs(at.getTime() - clock - Date.now()));
          expect(Math.min(...off)).toBeLessThan(MINUTE);
        }
      }

      /** The status of the gateway's answer to a report of the carrier, signed by our clock. */
      async function report(): Promise<number> {
        const at = new Date();
        const [{ body: sent, answer }] = [...carrier.accepted.values()] as [AcceptedRequest];
        const [to] = recipientsOf(sent);
        const { reference_id } = answer;
        const data = { reference_id, message_id: `${String(reference_id)}-0`, to, from: 'ACME' };
        const outcome = { status: 'delivered', error_code: null, sequence: 2 };
        const timestamp = at.toISOString();
        const body = JSON.stringify({
          type: 'sms.delivery_report',
          timestamp,
          data: { ...data, ...outcome, smsc_timestamp: timestamp },
        });
        const headers = {
          'content-type': 'application/json',
          'webhook-id': 'msg_1',
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': new Webhook(CARRIER_SECRET).sign('msg_1', at, body),
        };
        const url = `${gateway.url}/messaging/delivery-reports`;
        return (await fetch(url, { method: 'POST', headers, body })).status;
      }

      let inTwentyMinutes: string[];
      let inThreeSeconds: string[];

      it('after a jump of an hour ahead a batch under way is sent and reported once, and due messages leave', async () => {
        const due = databaseNow() + 20 * MINUTE;
        inTwentyMinutes = await send(2, due);
        const batch = await underWay();
        await jump(HOUR);
        await expectSentOnce(batch);
        await expectReportedOnce(batch, [0, HOUR]);
        if (isSqlite) await expectSentOnce(inTwentyMinutes);
        expect(takenAt.get(inTwentyMinutes[0]!) ?? due).toBeGreaterThanOrEqual(due);
      });

      it('after a jump of an hour back a batch under way is sent and reported once, and no message leaves early', async () => {
        // By then the gateway, which looks every two seconds, has seen the clock ahead.
        await expectSentOnce(await send(1, databaseNow() + 2_500));
        inThreeSeconds = await send(2, databaseNow() + 3_000);
        const batch = await underWay();
        await jump(0);
        await expectSentOnce(batch);
        await expectReportedOnce(batch, [HOUR, 0]);
        if (!isSqlite) await expectSentOnce(inThreeSeconds);
        expect(inThreeSeconds.some((to) => takenAt.has(to))).toBe(!isSqlite);
      });

      it('after a jump of a day ahead a batch under way is sent and reported once, and due messages leave', async () => {
        const batch = await underWay();
        await jump(24 * HOUR);
        await expectSentOnce(batch);
        await expectReportedOnce(batch, [0, 24 * HOUR]);
        await expectSentOnce(inThreeSeconds);
        expect(inTwentyMinutes.some((to) => takenAt.has(to))).toBe(isSqlite);
      });

      it('a report of the carrier is refused while the clocks differ, and taken once they agree', async () => {
        expect(await report()).toBe(401);
        await jump(0);
        expect(await report()).toBe(204);
      });

      if (isSqlite)
        it('a lane whose holder died before the clock went back is taken over', async () => {
          await jump(HOUR);
          const batch = await underWay();
          await gateway.stop('SIGKILL');
          await jump(0);
          gateway = await start();
          await expectSentOnce(batch);
        });
    },
    ['sqlite', 'mariadb'],
  );
});

function recipientsOf(body: string): string[] {
  return (JSON.parse(body) as { to: string[] }).to;
}
