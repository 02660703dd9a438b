import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import { SqliteDriver } from '../../src/config/sqlite-driver.js';
import { chances, seedOf } from '../chaos/processes/chance.js';
import { Seed } from '../chaos/seed.js';
import { Processes } from '../e2e/gateway/built-gateway.js';
import { buildGateway } from '../support/builds.js';
import { eventually } from '../support/eventually.js';
import { InterfaceServer } from '../support/interface-server.js';
import { describeUnless } from '../support/servers.js';
import { Disk, withoutLastRecord } from './power-loss/disk.js';

const DATABASE = 'gateway.sqlite';
const DIGEST_KEY = `${DATABASE}.digest-key`;
/** States of a batch. */
const COMPLETED = 5;
const CANCELLED = 6;
const COMPILER = 'cc';
const ROUNDS = 3;
/** Callers that ask at the same time, and answers of a round at which its power fails. */
const CALLERS = 12;
const ANSWERS = 150;

type Files = ReadonlyMap<string, Buffer>;

/** Changes that the gateway has confirmed with 2xx. */
interface Confirmed {
  /** Batches by id, with their recipients. */
  readonly sends: Map<string, readonly string[]>;
  readonly cancelled: Set<string>;
  readonly groups: Set<string>;
  /** Webhooks. */
  readonly deleted: Set<string>;
}

const missing =
  process.platform !== 'linux'
    ? 'no LD_PRELOAD'
    : spawnSync(COMPILER, ['--version']).status !== 0
      ? 'no cc'
      : undefined;

describeUnless(missing, 'a power loss on sqlite', () => {
  const seed = new Seed();
  const processes = new Processes();
  const confirmed: Confirmed = {
    sends: new Map(),
    cancelled: new Set(),
    groups: new Set(),
    deleted: new Set(),
  };
  /** Sends by their idempotency key: those without an answer are repeated at the end. */
  const asked = new Map<string, readonly string[]>();
  let hooks = 0;
  let carrier: InterfaceServer;
  let directory: string;
  let scratch: string;
  /** Token of the account that the first start makes. */
  let token = '';
  let unsynced = 0;

  beforeAll(async () => {
    await buildGateway();
    carrier = await InterfaceServer.start();
    directory = await realpath(await processes.directory());
    scratch = await mkdtemp(join(tmpdir(), 'dundun-power-'));
    const shim = join(import.meta.dirname, 'power-loss/journal.c');
    const flags = ['-O2', '-shared', '-fPIC', '-o', join(scratch, 'journal.so'), shim, '-ldl'];
    await promisify(execFile)(COMPILER, [...flags, '-lpthread']);
  });
  afterAll(async () => {
    await processes.destroy();
    await carrier.close();
    await rm(scratch, { recursive: true, force: true });
  });

  const start = (settings: Record<string, string> = {}) =>
    processes.gateway({
      CARRIER: 'http',
      CARRIER_URL: carrier.url,
      CARRIER_TOKEN: carrier.apiToken,
      RATE_LIMIT: '2000/s',
      LEASE: '1s',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ...settings,
    });

  async function call(url: string, method: string, path: string, body?: object, key?: string) {
    const response = await fetch(`${url}/ng/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  }

  /** A send of new recipients; `send_at` in the future leaves it to be cancelled. */
  async function send(url: string, recipients: number, later = false): Promise<string> {
    const key = `send-${asked.size}`;
    const to = Array.from({ length: recipients }, (_, n) =>
      String(2_348_000_000_000 + asked.size * 1_000 + n),
    );
    if (!later) asked.set(key, to);
    const at = later ? { send_at: '2150-01-01T00:00:00Z' } : {};
    const body = { from: 'ACME', to, body: 'Hello', ...at };
    const id = String(
      (await call(url, 'POST', 'sendsms', body, later ? undefined : key))['reference_id'],
    );
    confirmed.sends.set(id, to);
    return id;
  }

  const ACTIONS: ((url: string) => Promise<unknown>)[] = [
    (url) => send(url, 1),
    (url) => send(url, 1),
    (url) => send(url, 60),
    async (url) => {
      const id = await send(url, 3, true);
      await call(url, 'DELETE', `sms/${id}`);
      confirmed.cancelled.add(id);
    },
    async (url) => {
      const { id } = await call(url, 'POST', 'groups', { name: `Group ${asked.size}` });
      confirmed.groups.add(String(id));
    },
    async (url) => {
      const hook = await call(url, 'POST', 'webhooks', {
        url: `http://127.0.0.1:65535/${++hooks}`,
      });
      const id = String(hook['webhook_id']);
      await call(url, 'DELETE', `webhooks/${id}`);
      confirmed.deleted.add(id);
    },
  ];

  /** Webhooks that a power loss left between their creation and their deletion: an account has at most ten. */
  async function deleteWebhooks(url: string): Promise<void> {
    const { data } = await call(url, 'GET', 'webhooks');
    for (const { webhook_id } of data as { webhook_id: string }[]) {
      await call(url, 'DELETE', `webhooks/${webhook_id}`);
      confirmed.deleted.add(webhook_id);
    }
  }

  /** Callers ask until the power fails. */
  async function traffic(url: string, fail: () => void): Promise<void> {
    let left = ANSWERS + seed.below(ANSWERS);
    const delay = seed.below(15);
    const caller = async () => {
      for (;;) {
        await ACTIONS[seed.below(ACTIONS.length)]!(url);
        if (--left === 0) setTimeout(fail, delay);
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: CALLERS }, caller));
    for (const end of ends)
      // The connection ended with the process.
      if (end.status === 'rejected' && end.reason.name !== 'TypeError') throw end.reason;
  }

  async function filesOf(place: string): Promise<Files> {
    const names = (await readdir(place)).filter((name) => name.startsWith(DATABASE));
    const kept = names.filter((name) => !name.endsWith('-shm'));
    const read = async (name: string) => [name, await readFile(join(place, name))] as const;
    return new Map(await Promise.all(kept.map(read)));
  }

  async function writeFiles(place: string, files: Files): Promise<void> {
    for (const [name, content] of files) await writeFile(join(place, name), content);
  }

  async function reading(place: string, read: (source: DataSource) => Promise<void>) {
    const source = await new DataSource({
      type: 'better-sqlite3',
      driver: SqliteDriver,
      database: join(place, DATABASE),
    }).initialize();
    try {
      await read(source);
    } finally {
      await source.destroy();
    }
  }

  async function expectIntact(files: Files): Promise<void> {
    const place = await mkdtemp(join(scratch, 'disk-'));
    await writeFiles(place, files);
    expect(files.get(DIGEST_KEY)?.toString()).toMatch(/^[\w+/]{43}=\n$/);
    await reading(place, async (source) => {
      const all = <T>(sql: string): Promise<T[]> => source.query(sql);
      expect(await all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      const batches = new Map(
        (
          await all<{ id: string; state: number; recipients: string }>(
            `SELECT id, state, (SELECT group_concat(recipients, char(10)) FROM messaging_batch_chunk
                 WHERE batch = id) AS recipients FROM messaging_batch`,
          )
        ).map((batch) => [batch.id, batch]),
      );
      const lost = [...confirmed.sends].filter(
        ([id, to]) => batches.get(id)?.recipients !== to.join('\n'),
      );
      expect(lost).toEqual([]);
      const back = [...confirmed.cancelled].filter((id) => batches.get(id)?.state !== CANCELLED);
      expect(back).toEqual([]);
      const groups = await all<{ id: string }>('SELECT id FROM messaging_contact_group');
      const known = new Set(groups.map(({ id }) => id));
      expect([...confirmed.groups].filter((id) => !known.has(id))).toEqual([]);
      const endpoints = await all<{ id: string }>('SELECT id FROM gateway_webhook_endpoint');
      expect(endpoints.filter(({ id }) => confirmed.deleted.has(id))).toEqual([]);
      // The carrier has no request whose intent is lost: it could be sent again under another key.
      const intents = await all<{ key: string }>(
        `SELECT batch || '-s' || n AS key FROM messaging_submission`,
      );
      const intended = new Set(intents.map(({ key }) => key));
      expect([...carrier.accepted.keys()].filter((key) => !intended.has(key))).toEqual([]);
    });
  }

  it('every change answered 2xx is on the disk after each power loss, and no message is sent twice', async () => {
    const delays = chances(seedOf(seed.value, 'carrier'));
    carrier.answer(async () => {
      await new Promise((resolve) => setTimeout(resolve, delays() * 20));
      return false;
    });
    for (let round = 0; round < ROUNDS; round++) {
      const base = await filesOf(directory);
      const journal = join(scratch, `journal-${round}`);
      const gateway = await start({
        LD_PRELOAD: join(scratch, 'journal.so'),
        POWER_LOSS_FILES: join(directory, DATABASE),
        POWER_LOSS_JOURNAL: journal,
        POWER_LOSS_SYNC_US: '3000',
      });
      if (round === 0) [token] = await gateway.told(/tok_[0-9A-Za-z]{49}/);
      await deleteWebhooks(gateway.url);
      await traffic(gateway.url, () => gateway.child.kill('SIGKILL'));
      await gateway.ended;
      const records = await readFile(journal);
      const disk = new Disk(directory, base, records);
      unsynced += disk.unsynced;
      // The journal has every write, and perhaps one that the kill prevented.
      const before = new Disk(directory, base, withoutLastRecord(records));
      expect([disk, before].map((written) => summaryOf(written.after(() => 0)))).toContainEqual(
        summaryOf(await filesOf(directory)),
      );
      await expectIntact(disk.after(() => 0.9));
      let files: Files = new Map();
      for (let n = 0; n < 6; n++) {
        files = disk.after(chances(seedOf(seed.value, `disk ${round} ${n}`)));
        await expectIntact(files);
      }
      for (const name of await readdir(directory)) await rm(join(directory, name));
      await writeFiles(directory, files);
    }

    expect(unsynced).toBeGreaterThan(0);
    const gateway = await start();
    // A send without an answer is repeated by its caller.
    const sent = new Map([...confirmed.sends].map(([id, to]) => [to, id]));
    await Promise.all(
      [...asked].map(async ([key, to]) => {
        const again = { from: 'ACME', to, body: 'Hello' };
        const { reference_id: id } = await call(gateway.url, 'POST', 'sendsms', again, key);
        expect([key, id]).toEqual([key, sent.get(to) ?? id]);
      }),
    );
    await reading(directory, (source) =>
      eventually(async () =>
        expect(
          await source.query(
            `SELECT id, state FROM messaging_batch WHERE state < ${COMPLETED} AND send_at IS NULL`,
          ),
        ).toEqual([]),
      ),
    );
    await gateway.stop('SIGTERM');
    await expectIntact(await filesOf(directory));
    const taken = [...carrier.accepted.values()].flatMap(
      ({ body }) => (JSON.parse(body) as { to: string[] }).to,
    );
    const wanted = [...asked.values()].flat();
    expect(taken.toSorted()).toEqual(wanted.toSorted());
  });
});

/** Name, length and digest of each file. */
function summaryOf(files: Files): string[] {
  return [...files]
    .map(([name, content]) => `${name} ${content.length} ${hash('sha256', content)}`)
    .toSorted();
}
