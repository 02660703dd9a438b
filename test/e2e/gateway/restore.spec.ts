import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  appendFile,
  chmod,
  copyFile,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SqliteDriver } from '../../../src/config/sqlite-driver.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Processes, type RunningGateway } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';
import type { Ended } from './command-line.js';

const FILE = 'backup.sqlite';
const OPERATIONS = join(import.meta.dirname, '../../../docs/operations.md');

/** Answers of the command line with `--json`. */
function answerOf({ code, stdout, stderr }: Ended): Record<string, unknown> {
  return JSON.parse(code === 0 ? stdout : stderr) as Record<string, unknown>;
}

/** Sends one message a call; the simulated carrier accepts it. */
async function sender(gateway: RunningGateway, token?: string) {
  const [, printed = ''] = token === undefined ? await gateway.told(/(tok_\w+)/) : [];
  const credential = token ?? printed;
  const send = async (body: object = {}): Promise<string> => {
    const answer = await fetch(`${gateway.url}/ng/v1/sendsms`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from: 'ACME', to: ['2348012345678'], body: 'Hello', ...body }),
    });
    const { reference_id: id } = (await answer.json()) as Record<string, unknown>;
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
    return String(id);
  };
  return { token: credential, send };
}

async function readiness({ url }: RunningGateway): Promise<unknown> {
  const answer = await fetch(`${url}/health/ready`);
  return { code: answer.status, ...((await answer.json()) as object) };
}

describe('a backup of the SQLite database', () => {
  const processes = new Processes();
  let gateway: RunningGateway;
  let directory: string;
  beforeAll(async () => {
    await buildGateway();
    gateway = await processes.gateway();
    directory = await processes.directory();
  });
  afterEach(() => rm(join(directory, FILE), { force: true }));
  afterAll(() => processes.destroy());

  const backup = async (...args: string[]) => processes.dundun(['backup', FILE, '--json', ...args]);

  it('a backup while messages are sent has every message that was accepted before it', async () => {
    const { send } = await sender(gateway);
    const accepted: string[] = [];
    let stopped = false;
    const loop = (async () => {
      while (!stopped) accepted.push(await send());
    })();
    await eventually(async () => expect(accepted.length).toBeGreaterThan(20));
    const before = [...accepted];
    const ended = await processes.dundunProcess(['backup', FILE, '--json']);
    const during = accepted.length;
    stopped = true;
    await loop;
    expect(answerOf(ended)).toEqual({ file: FILE, bytes: expect.any(Number) });
    expect(during).toBeGreaterThan(before.length);
    const copy = new SqliteDriver(join(directory, FILE));
    try {
      expect(copy.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
      const ids = new Set(
        copy
          .prepare(
            'SELECT b.id FROM messaging_batch b JOIN messaging_batch_chunk c ON c.batch = b.id',
          )
          .all()
          .map((row) => (row as { id: string }).id),
      );
      expect(before.filter((id) => !ids.has(id))).toEqual([]);
    } finally {
      copy.close();
    }
  });

  it('a backup is one file that only its owner can read', async () => {
    await backup();
    expect((await stat(join(directory, FILE))).mode & 0o777).toBe(0o600);
    expect((await readdir(directory)).filter((name) => name.startsWith(FILE))).toEqual([FILE]);
  });

  it('a backup replaces no file without --force, and never the database', async () => {
    await writeFile(join(directory, FILE), 'precious', { mode: 0o644 });
    const refused = await backup();
    expect(refused.code).toBe(1);
    expect(answerOf(refused)).toMatchObject({
      error: { code: 'invalid_field', message: expect.stringContaining('--force') },
    });
    expect((await stat(join(directory, FILE))).size).toBe('precious'.length);
    const { bytes } = answerOf(await backup('--force'));
    expect(await stat(join(directory, FILE))).toMatchObject({ size: bytes });
    expect((await stat(join(directory, FILE))).mode & 0o777).toBe(0o600);
    const database = ['backup', 'gateway.sqlite', '--force', '--json'];
    expect(answerOf(await processes.dundun(database))).toMatchObject({
      error: { message: expect.stringContaining('the database itself') },
    });
    expect(await readiness(gateway)).toMatchObject({ code: 200 });
  });

  it('a failed backup leaves no file behind', async () => {
    const none = await processes.dundun(['backup', FILE, '--json'], {
      DATABASE_URL: 'sqlite:none.sqlite',
    });
    const folder = await processes.dundun(['backup', 'none/x.sqlite', '--json']);
    await writeFile(join(directory, 'other.sqlite'), '');
    const other = await processes.dundun(['backup', FILE, '--json'], {
      DATABASE_URL: 'sqlite:other.sqlite',
    });
    const server = await processes.dundun(['backup', FILE, '--json'], {
      DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/x',
    });
    expect([none, folder, other, server].map(({ code }) => code)).toEqual([1, 1, 1, 1]);
    expect(none.stderr).toContain('no such file');
    expect(folder.stderr).toContain('create it first');
    expect(other.stderr).toContain('no tables of this version');
    expect(server.stderr).toContain('pg_dump');
    expect(server.stderr).not.toContain('hunter2');
    expect((await readdir(directory)).filter((name) => name.startsWith(FILE))).toEqual([]);
    expect(existsSync(join(directory, 'none.sqlite'))).toBe(false);
  });
});

const run = promisify(execFile);

/** Line of docs/operations.md for dumps that are not noticed by themselves. */
const MARK = /echo "(INSERT IGNORE [^"]+)" >> dundun\.sql/;

/** The kinds of databases whose programs for dumps are installed. */
const KINDS = (
  [
    ['sqlite', []],
    ['postgres', ['pg_dump', 'psql']],
    ['mariadb', ['mysqldump', 'mysql']],
  ] as const
).flatMap(([kind, programs]) => {
  const folders = (process.env['PATH'] ?? '').split(':');
  const isThere = (name: string) => folders.some((folder) => existsSync(join(folder, name)));
  return programs.every(isThere) ? [kind] : [];
});

/** Arguments of MySQL's programs for a database. */
function mysqlOf(url: string): [arguments_: string[], env: NodeJS.ProcessEnv] {
  const { hostname, port, username, password, pathname } = new URL(url);
  const place = [`--host=${hostname}`, `--port=${port || 3306}`, `--user=${username}`];
  return [[...place, pathname.slice(1)], { ...process.env, MYSQL_PWD: password }];
}

describeEachDatabase(
  'a gateway on a restored database',
  (database) => {
    const processes = new Processes();
    let settings: Record<string, string>;
    let restoredSettings: Record<string, string>;
    beforeAll(async () => {
      await buildGateway();
      settings = { DATABASE_URL: database.url };
      restoredSettings = { DATABASE_URL: await database.another() };
    });
    afterAll(() => processes.destroy());

    const pathOf = (url: string) => url.slice('sqlite:'.length);
    const ask = async (...args: string[]) =>
      answerOf(await processes.dundun([...args, '--json'], restoredSettings));

    /** As docs/operations.md says, once for each kind of database. */
    async function backUpAndRestore(): Promise<void> {
      const to = restoredSettings['DATABASE_URL']!;
      const dump = join(await processes.directory(), 'dundun.sql');
      if (database.kind === 'postgres') {
        await run('pg_dump', ['--no-owner', '--file', dump, database.url]);
        await run('psql', ['--quiet', '--set=ON_ERROR_STOP=1', '--file', dump, to]);
        return;
      }
      if (database.kind === 'mariadb') {
        const [from, env] = mysqlOf(database.url);
        await run('mysqldump', ['--single-transaction', `--result-file=${dump}`, ...from], { env });
        const [, line = ''] = MARK.exec(await readFile(OPERATIONS, 'utf8')) ?? [];
        await appendFile(dump, `${line}\n`);
        await run('mysql', [`--execute=source ${dump}`, ...mysqlOf(to)[0]], { env });
        return;
      }
      const file = join(await processes.directory(), FILE);
      expect((await processes.dundun(['backup', file], settings)).stderr).toBe('');
      await copyFile(file, pathOf(to));
      await chmod(pathOf(to), 0o600);
    }

    it('a restored gateway accepts messages and sends none until the release', async () => {
      // Accepts and sends nothing, so that the messages are queued at the backup.
      const first = await processes.gateway({ ...settings, ROLE: 'api' });
      const { token, send } = await sender(first);
      const queued = await send({ to: ['2348012345678', '2348012345679'] });
      const scheduled = await send({ send_at: '2150-01-01T00:00:00Z' });
      await placeOrder(first, token);
      await backUpAndRestore();
      await first.stop('SIGTERM');

      const second = await processes.gateway(restoredSettings);
      await second.told(/npx dundun restore --check/);
      const { send: sendAfter } = await sender(second, token);
      const fresh = await sendAfter();
      await eventually(async () =>
        expect(await readiness(second)).toMatchObject({
          code: 200,
          status: 'degraded',
          details: { lanes: { status: 'degraded', all_held: 'restored', held: { restored: 2 } } },
        }),
      );
      const { lanes, holds } = (await ask('lanes')) as Record<string, Record<string, unknown>[]>;
      const held = { state: 'held', reason: 'restored' };
      expect(lanes).toMatchObject([held, held]);
      expect(lanes?.[0]?.['detail']).toContain('dundun lanes release');
      expect(holds).toMatchObject([
        { lanes: '*', reason: 'restored', detail: expect.stringContaining('dundun lanes release') },
        {
          lanes: '*:vas',
          reason: 'restored',
          detail: expect.stringContaining('dundun vas release'),
        },
      ]);
      const account = String(lanes?.[0]?.['lane']).split(':')[0]!;
      expect(await ask('restore', '--check')).toEqual({
        restored: expect.any(String),
        lanes: [
          {
            lane: `${account}:sms`,
            channel: 'sms',
            queued: 2,
            scheduled: 1,
            resendable: 0,
            lost: 0,
          },
          {
            lane: `${account}:vas`,
            channel: 'vas',
            queued: 1,
            scheduled: 0,
            resendable: 0,
            lost: 0,
          },
        ],
        // The order stays held.
        send: { sent: 2, later: 1, resent: 0, unknown: 0 },
        settle_unknown: { sent: 0, later: 1, resent: 0, unknown: 2 },
      });
      expect(await ask('lanes', 'release')).toMatchObject({ error: { code: 'invalid_field' } });
      expect(await metric(second, 'dundun_dispatched')).toBe(0);

      expect(await ask('lanes', 'release', '--settle', 'unknown')).toEqual({
        status: 'released',
        sent: 0,
        later: 1,
        resent: 0,
        unknown: 2,
      });
      const counts = async (id: string) =>
        (await ask('batches', 'show', '--account', account, '--reference', id))['counts'];
      await eventually(async () => {
        expect(await counts(fresh)).not.toEqual({ queued: 1 });
        expect(await counts(queued)).not.toEqual({ queued: 2 });
      });
      expect(await counts(scheduled)).toEqual({ queued: 1 });
      expect(await metric(second, 'dundun_dispatched')).toBe(3);
      expect(await metric(second, 'dundun_outcomes_total{channel="sms",status="unknown"}')).toBe(2);
      const orders = async () => (await ask('vas', 'orders', '--account', account))['orders'];
      expect(await orders()).toMatchObject([{ status: 'queued' }]);
      expect(await ask('vas', 'release')).toMatchObject({ status: 'released' });
      await eventually(async () => expect(await orders()).toMatchObject([{ status: 'delivered' }]));
      await eventually(async () => expect(await readiness(second)).toMatchObject({ status: 'ok' }));
      expect(await ask('restore', '--check')).toMatchObject({ error: { code: 'not_found' } });
      await second.stop('SIGTERM');

      const third = await processes.gateway(restoredSettings);
      await eventually(async () => expect(await readiness(third)).toMatchObject({ status: 'ok' }));
      await third.stop('SIGTERM');
    });
  },
  KINDS,
);

async function placeOrder({ url }: RunningGateway, token: string): Promise<void> {
  const order = {
    to: '2348012341111',
    product: 'airtime-ng',
    amount: '100',
    client_reference: 'one',
  };
  const { status } = await fetch(`${url}/ng/v1/vas/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  expect(status).toBe(200);
}

/** Sum over the labels of a metric. */
async function metric({ url }: RunningGateway, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
