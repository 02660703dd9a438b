import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Connection, createConnection } from 'mysql2/promise';
import type { CreatedAccount } from '../../src/accounts/accounts.service.js';
import { type Answered, TestGateway } from '../e2e/gateway/test-gateway.js';
import { describeEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { PrivateMariaDb } from '../support/private-mariadb.js';
import { describeUnless } from '../support/servers.js';

/** A database that can stop to take writes, and take them again. */
interface Weak {
  readonly url: string;
  readonly reason: 'read_only' | 'full';
  weaken(): Promise<void>;
  restore(): Promise<void>;
}

function describeRecovery(prepare: () => Promise<Weak>): void {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let database: Weak;

  beforeAll(async () => {
    database = await prepare();
    gateway = new TestGateway({ DATABASE_URL: database.url, RATE_LIMIT: '1/h' });
    await gateway.start();
    account = await gateway.account();
    for (let n = 0; n < 5; n++) expect((await send()).status).toBe(200);
  });
  afterAll(() => gateway.destroy());

  const to = Array.from({ length: 5_000 }, (_, index) => String(2_348_000_000_000 + index));
  const send = (): Promise<Answered> =>
    gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to, body: 'Hello' },
    });
  const ready = () => gateway.call('GET', '/health/ready');

  it('sends are answered 503, readiness names the reason, and both recover without a restart', async () => {
    expect((await ready()).status).toBe(200);
    await database.weaken();
    let refused: Answered;
    do refused = await send();
    while (refused.status === 200);
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    expect(refused.headers.get('retry-after')).toBe('1');
    await eventually(async () => {
      // The first refusals may be of connections that were cut.
      await send();
      expect(await ready()).toMatchObject({
        status: 503,
        body: { error: { database: { status: 'down', reason: database.reason } } },
      });
    });
    await database.restore();
    await eventually(async () => expect((await ready()).status).toBe(200));
    await eventually(async () => expect((await send()).status).toBe(200));
  });
}

describeEachDatabase(
  'a gateway whose database becomes read-only',
  (db) =>
    describeRecovery(async () => {
      const source = await db.open();
      const name = new URL(db.url).pathname.slice(1);
      return {
        url: db.url,
        reason: 'read_only',
        weaken: async () => {
          await source.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
          await source.query(
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
          );
        },
        // A new connection of the test is read-only, too.
        restore: () =>
          source.query(
            `START TRANSACTION READ WRITE; ALTER DATABASE ${name} RESET default_transaction_read_only; COMMIT`,
          ),
      };
    }),
  ['postgres'],
);

// The variable holds for a whole server, and waits for the transactions of all its databases.
describeUnless(
  PrivateMariaDb.missing,
  'a gateway whose database becomes read-only, a server of its own on mariadb',
  () => {
    let server: PrivateMariaDb;
    let root: Connection;
    describeRecovery(async () => {
      server = await PrivateMariaDb.start();
      root = await createConnection({ uri: server.url });
      // A read-only server refuses the writes of users without special rights alone.
      await root.query("CREATE USER app@'%' IDENTIFIED BY 'secret'");
      await root.query("GRANT ALL ON own.* TO app@'%'");
      const url = new URL(server.url);
      Object.assign(url, { username: 'app', password: 'secret' });
      return {
        url: url.href,
        reason: 'read_only',
        weaken: async () => void (await root.query('SET GLOBAL read_only = 1')),
        restore: async () => void (await root.query('SET GLOBAL read_only = 0')),
      };
    });
    afterAll(async () => {
      await root.end();
      await server.remove();
    });
  },
);

const run = promisify(execFile);
const SIZE = '8m';
/** It needs the right to mount, as this suite does. */
const UNSHARE = 'unshare';
const mountable = spawnSync(UNSHARE, ['-m', 'true']).status === 0;

describeUnless(
  mountable ? undefined : 'no right to mount',
  'a gateway whose disk is full, on a small file system on sqlite',
  () => {
    let directory: string;
    describeRecovery(async () => {
      directory = await mkdtemp(join(tmpdir(), 'dundun-full-'));
      await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', directory]);
      return {
        url: `sqlite:${join(directory, 'gateway.sqlite')}`,
        reason: 'full',
        weaken: () => Promise.resolve(),
        restore: async () => void (await run('mount', ['-o', 'remount,size=128m', directory])),
      };
    });
    afterAll(async () => {
      // Lazily: SQLite's files may be closed a moment later.
      await run('umount', ['-l', directory]);
      await rm(directory, { recursive: true });
    });
  },
);
