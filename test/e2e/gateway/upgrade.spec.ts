import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { NotificationService } from '@dundun/messaging';
import { MessagingOperations } from '@dundun/messaging/operations';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { readEnvironment } from '../../../src/config/environment.js';
import { migrateGatewayDatabase } from '../../../src/gateway-database.js';
import { SendersInOneTable1790000001501 } from '../../../src/senders/senders.migration.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { InterfaceServer } from '../../support/interface-server.js';
import {
  digestOf,
  dump,
  type Known,
  knownOf,
  restore,
  writeKnown,
} from '../../layouts/fixtures.js';
import {
  answersOf,
  fillDatabase,
  keptGateway,
  postReport,
  read,
} from '../../layouts/kept-database.js';
import { tablesOf } from '../../layouts/tables.js';
import { LAYOUTS } from '../../layouts/layouts.js';
import type { TestGateway } from './test-gateway.js';

const { NEW_LAYOUT } = process.env;
jest.setTimeout(120_000);

/** A gateway on the database, a carrier of its own, and a folder for its settings. */
class Stage {
  upstream!: InterfaceServer;
  #directory = '';
  readonly #gateways: TestGateway[] = [];

  async open(): Promise<void> {
    this.upstream = await InterfaceServer.start();
    this.#directory = await mkdtemp(join(tmpdir(), 'dundun-layout-'));
  }

  async gateway(url: string, role: 'all' | 'api'): Promise<TestGateway> {
    const file = join(this.#directory, 'carriers.json');
    const gateway = await keptGateway(this.upstream, file, { DATABASE_URL: url, ROLE: role });
    this.#gateways.push(gateway);
    return gateway.start();
  }

  async close(): Promise<void> {
    for (const gateway of this.#gateways) await gateway.stop();
    await this.upstream.close();
    await rm(this.#directory, { recursive: true });
  }
}

/** What the answer of a fixture is today: a conversation's window has ended. */
function atPresent(answer: unknown): unknown {
  const isOver = (key: string, value: unknown): boolean =>
    key === 'window_expires_at' && typeof value === 'string' && Date.parse(value) <= Date.now();
  return JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
    isOver(key, value) ? null : value,
  );
}

if (NEW_LAYOUT)
  describeEachDatabase('a new layout', (database) => {
    const stage = new Stage();
    beforeAll(() => stage.open());
    afterAll(() => stage.close());

    it('its fixture is written', async () => {
      const gateway = await stage.gateway(database.url, 'all');
      const kept = await fillDatabase(gateway, stage.upstream);
      const source = await database.open();
      // Otherwise the restored database holds its lanes, as a backup does.
      await source.query('UPDATE messaging_instance SET mark = NULL');
      await dump(NEW_LAYOUT, database);
      const { kind } = database;
      const url = await database.another();
      await restore(NEW_LAYOUT, { kind, url });
      const answers = await answersOf(await stage.gateway(url, 'api'), kept);
      await writeKnown(NEW_LAYOUT, kind, { kept, answers });
      const digest = await digestOf(NEW_LAYOUT, kind);
      process.stdout.write(`${kind}: '${digest}'\n`);
      expect(answers.length).toBeGreaterThan(50);
    });
  });

for (const { name } of LAYOUTS)
  describeEachDatabase(`a database of the layout ${name}`, (database) => {
    const stage = new Stage();
    let known: Known;
    beforeAll(async () => {
      await stage.open();
      known = await knownOf(name, database.kind);
      await restore(name, database);
      const source = await database.open();
      await source.query(
        `INSERT INTO messaging_lane (lane_key, paused_until, pause_reason)
         VALUES ('paused:sms', 1, 'main unauthorized: check the token')`,
      );
    });
    afterAll(() => stage.close());

    it('the start of this version brings it up to date, and each message, batch, report and account reads the same', async () => {
      const { kept, answers } = known;
      const gateway = await stage.gateway(database.url, 'api');
      for (const { account, path, body } of answers)
        expect(await read(gateway, kept.accounts[account], path)).toMatchObject(
          atPresent(body) as object,
        );
      await gateway.stop();
    });

    it('the senders of each channel move into one table, also where a migration had stopped half-way', async () => {
      await migrateGatewayDatabase(readEnvironment({ DATABASE_URL: database.url }));
      const source = await database.open();
      const rows = () =>
        source.query<Record<string, unknown>[]>(
          `SELECT channel, sender, state, exclusive_sender FROM gateway_account_sender
           WHERE account_id = '${known.kept.accounts.demo.accountId}' ORDER BY channel, sender`,
        );
      const moved = await rows();
      const [number] = moved.flatMap(({ channel, sender }) =>
        channel === 'whatsapp' ? sender : [],
      );
      const approved = { state: 'approved', exclusive_sender: null };
      expect(moved).toEqual([
        { ...approved, channel: 'sms', sender: 'ACME' },
        { ...approved, channel: 'sms', sender: 'ACMENEWS' },
        { ...approved, channel: 'voice', sender: '2348000000001' },
        { ...approved, channel: 'whatsapp', sender: number, exclusive_sender: number },
      ]);
      await source.query(
        `CREATE TABLE gateway_caller AS SELECT account_id, sender AS caller, state, created_at
         FROM gateway_account_sender WHERE channel = 'voice'`,
      );
      const runner = source.createQueryRunner();
      await new SendersInOneTable1790000001501().up(runner);
      expect(await runner.hasTable('gateway_caller')).toBe(false);
      await runner.release();
      expect(await rows()).toEqual(moved);
    });

    it('the pause of a lane keeps its provider and its reason', async () => {
      await migrateGatewayDatabase(readEnvironment({ DATABASE_URL: database.url }));
      const source = await database.open();
      const rows: unknown = await source.query(
        `SELECT pause_provider, pause_reason FROM messaging_lane WHERE lane_key = 'paused:sms'`,
      );
      expect(rows).toEqual([
        { pause_provider: 'main', pause_reason: 'unauthorized: check the token' },
      ]);
    });

    it('callbacks of the former version keep their type', async () => {
      await migrateGatewayDatabase(readEnvironment({ DATABASE_URL: database.url }));
      const source = await database.open();
      const kept = await source.query<{ type: string; payload: string }[]>(
        'SELECT type, payload FROM gateway_webhook_delivery',
      );
      expect(kept.length).toBeGreaterThan(0);
      for (const { type, payload } of kept)
        expect(type).toBe((JSON.parse(payload) as { type: string }).type);
    });

    it('its tables are those of a new database: each difference between the versions has its migration', async () => {
      const url = await database.another();
      for (const DATABASE_URL of [database.url, url])
        await migrateGatewayDatabase(readEnvironment({ DATABASE_URL }));
      const options = {
        ...database.options(),
        [database.kind === 'sqlite' ? 'database' : 'url']: url.replace(/^sqlite:/, ''),
      };
      const fresh = await new DataSource(options as DataSourceOptions).initialize();
      const { kind } = database;
      expect(await tablesOf(await database.open(), kind)).toEqual(await tablesOf(fresh, kind));
      await fresh.destroy();
    });

    it('what was queued is sent once, and a report that was recorded stays a duplicate', async () => {
      const {
        kept: { accounts, queued, inFlight, report },
      } = known;
      // As if the process had died just now: a carrier takes a repetition for some hours only.
      const source = await database.open();
      await source.query(
        `UPDATE messaging_submission SET first_sent_at = ${Date.now()}000 WHERE outcome IS NULL`,
      );
      const gateway = await stage.gateway(database.url, 'all');
      const operations = gateway.running.app.get(MessagingOperations, { strict: false });
      for (const lane of [`${accounts.acme.accountId}:sms`, `${accounts.demo.accountId}:email`])
        expect(await operations.resumeLane(lane)).toBe(true);
      const countsOf = async (account: 'demo' | 'acme', path: string) =>
        ((await read(gateway, accounts[account], path)) as { counts: unknown }).counts;
      await eventually(async () => {
        const counts = await Promise.all([
          ...queued.sms.map((id) => countsOf('acme', `/ng/v1/sms/${id}`)),
          countsOf('demo', `/email/ng/v1/messages/${queued.email}`),
          countsOf('demo', `/ng/v1/sms/${inFlight}`),
        ]);
        expect(counts).toEqual([
          { delivered: 1 },
          { sent: 1 },
          { undelivered: 1 },
          { delivered: 2 },
          { sent: 1 },
        ]);
      });
      const notifications = gateway.running.app.get(NotificationService, { strict: false });
      await eventually(async () =>
        expect(
          await notifications.find(queued.notification, { tenant: accounts.demo.accountId }),
        ).toMatchObject({ status: 'delivered', deliveredBy: ['email'] }),
      );
      const before = await reportsOf(source);
      expect(await postReport(gateway, report)).toBe(204);
      expect(await reportsOf(source)).toBe(before);
      const sent = stage.upstream.requests.flatMap(({ method, body }) =>
        method === 'POST' ? (JSON.parse(body) as { to: string[] }).to : [],
      );
      expect(sent.toSorted()).toEqual(['233201234504', '233201234505']);
    });

    // The last one: the account has another token after it.
    it('the token and the key of an account work on with all of their rights, beside a token with a name', async () => {
      const gateway = await stage.gateway(database.url, 'api');
      const { accountId, apiToken, apiKey } = known.kept.accounts.acme;
      const listed = () => gateway.accounts.tokens(accountId);
      const [unnamed, ...others] = await listed();
      expect([unnamed, others]).toMatchObject([
        { name: null, scopes: [], status: 'active', expiresAt: null },
        [],
      ]);
      const statusOf = async (token: string, method: string, path: string, body?: object) =>
        (await gateway.call(method, path, { token, ...(body && { body }) })).status;
      const mayAll = async (token: string) =>
        expect([
          await statusOf(token, 'GET', '/ng/v1/sms'),
          await statusOf(token, 'POST', '/ng/v1/groups', { name: 'after the upgrade' }),
          await statusOf(token, 'GET', '/ng/v1/webhooks'),
        ]).toEqual([200, 201, 200]);
      await mayAll(apiToken);
      expect(await statusOf(apiKey, 'GET', '/whatsapp/ng/v1/templates')).toBe(200);
      const also = () => Promise.resolve();
      const reader = { name: 'reader', scopes: ['sms:read' as const], expiresAt: undefined };
      const { apiToken: readerToken } = await gateway.accounts.createToken(accountId, reader, also);
      expect(await statusOf(readerToken, 'GET', '/ng/v1/sms')).toBe(200);
      expect(await statusOf(readerToken, 'GET', '/ng/v1/webhooks')).toBe(403);
      await mayAll(apiToken);
      // A rotation without an id means the one without a name, as before.
      const rotated = await gateway.accounts.rotateToken(accountId, also);
      await eventually(async () => expect(await statusOf(apiToken, 'GET', '/ng/v1/sms')).toBe(401));
      await mayAll(rotated);
      expect(await statusOf(readerToken, 'GET', '/ng/v1/sms')).toBe(200);
      await gateway.stop();
    });
  });

async function reportsOf(source: DataSource): Promise<number> {
  const [row] = await source.query<{ n: unknown }[]>('SELECT count(*) AS n FROM messaging_report');
  return Number(row?.n);
}
