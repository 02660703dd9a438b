import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbackCounts } from '@dundun/messaging';
import { MessagingOperations } from '@dundun/messaging/operations';
import { execFile } from 'node:child_process';
import { existsSync, truncateSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { DomainsService } from '../../../src/channels/email/domains/domains.service.js';
import { EmailDomain } from '../../../src/channels/email/domains/domains.tables.js';
import { parseDatabaseUrl } from '../../../src/config/database-url.js';
import { ENVIRONMENT, type Environment } from '../../../src/config/environment.js';
import { callbackChecks } from '../../../src/doctor/callback-checks.js';
import { CallbackSightings } from '../../../src/doctor/callback-sightings.js';
import { type Check, CheckError, type CheckResult, runChecks } from '../../../src/doctor/check.js';
import { databaseChecks } from '../../../src/doctor/database-checks.js';
import { redisCheck } from '../../../src/doctor/redis-check.js';
import { WebhookEndpointEntity } from '../../../src/webhooks/webhooks.tables.js';
import { PrivateRedis } from '../../chaos/private-redis.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { PROVIDERS } from '../../integration/providers/provider-cases.js';
import { describeEachDatabase } from '../../support/databases.js';
import { type DnsRecord, DnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { describeUnless } from '../../support/servers.js';
import { Smsc } from '../../support/smpp/smsc.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

const run = promisify(execFile);
const HOUR = 3_600_000;

/** The results of `dundun doctor`, by name, with its exit code. */
async function doctor(settings: Record<string, string>, directory = tmpdir()) {
  const { code, stdout, stderr } = await commandLine(['doctor', '--json'], settings, directory);
  expect(stderr).toBe('');
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  const { checks } = JSON.parse(stdout) as { checks: CheckResult[] };
  for (const check of checks)
    expect(Object.keys(check)).toEqual(['name', 'ok', 'detail', 'remedy']);
  expect(code).toBe(checks.every(({ ok }) => ok) ? 0 : 1);
  return Object.assign(new Map(checks.map((check) => [check.name, check])), { stdout, code });
}

const green = { ok: true, remedy: null };
const red = (detail: RegExp, remedy: RegExp) => ({
  ok: false,
  detail: expect.stringMatching(detail),
  remedy: expect.stringMatching(remedy),
});

describe('dundun doctor', () => {
  const carrier = new Map(PROVIDERS).get('telnyx')!('/callbacks/telnyx');
  let dns: DnsServer;
  let smsc: Smsc;
  let receiver: Receiver;
  let gateway: TestGateway;
  let source: DataSource;
  let acme: CreatedAccount;
  let directory: string;
  let settings: Record<string, string>;
  let domain: string;
  let webhook: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-doctor-'));
    dns = await DnsServer.start();
    smsc = await Smsc.start();
    receiver = await Receiver.start();
    await carrier.server.listen();
    await writeFile(
      join(directory, 'carriers.json'),
      JSON.stringify({
        carriers: {
          telnyx: { type: 'telnyx', ...carrier.carrier() },
          smsc: { type: 'smpp', url: smsc.url },
          none: { type: 'simulator' },
        },
        routes: [
          { channel: 'sms', to: ['233'], use: 'smsc' },
          { channel: 'sms', use: 'telnyx' },
          { use: 'none' },
        ],
      }),
    );
    settings = {
      CARRIERS_FILE: join(directory, 'carriers.json'),
      DATABASE_URL: `sqlite:${join(directory, 'gateway.sqlite')}`,
      EMAIL_CARRIER: 'simulator',
      EMAIL_DNS_SERVERS: dns.address,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    gateway = new TestGateway(settings);
    await gateway.start();
    source = gateway.running.app.get(DataSource, { strict: false });
    acme = await gateway.account();
    const domains = gateway.running.app.get(DomainsService, { strict: false });
    const added = await domains.add(acme.accountId, 'mail.example.com');
    domain = added.id;
    for (const { type, name, value } of added.records) {
      const [preference, exchange = ''] = value.split(' ');
      const record: DnsRecord =
        type === 'TXT'
          ? { type, data: value.match(/.{1,200}/g) ?? [] }
          : type === 'MX'
            ? { type, data: { preference: Number(preference), exchange } }
            : { type, data: value };
      dns.records.set(name, [...(dns.records.get(name) ?? []), record]);
    }
    await domains.verify(acme.accountId, domain);
    const { body } = await gateway.call('POST', '/ng/v1/webhooks', {
      token: acme.apiToken,
      body: { url: receiver.url },
    });
    webhook = String(body['webhook_id']);
  });
  afterAll(async () => {
    await gateway.destroy();
    await receiver.close();
    await carrier.server.close();
    await smsc.stop();
    await dns.close();
    await rm(directory, { recursive: true, force: true });
  });
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const one of undo.splice(0)) await one();
  });

  it('every line is green while all is right, and no line has a secret or a whole address', async () => {
    const lines = await doctor(settings);
    expect([...lines.keys()]).toEqual([
      'settings',
      'database',
      'database settings',
      'clock',
      'disk',
      'carrier telnyx',
      'carrier smsc',
      'carrier none',
      'carrier simulator',
      'callbacks telnyx',
      'domain mail.example.com',
      `webhook ${webhook}`,
    ]);
    expect([...lines.values()].filter(({ ok }) => !ok)).toEqual([]);
    expect(lines.code).toBe(0);
    expect(lines.get('carrier telnyx')).toMatchObject({
      ...green,
      detail: 'it takes the credential; the balance is 12.50 USD',
    });
    expect(lines.stdout).not.toContain(carrier.carrier()['api_key']);
    expect(lines.stdout).not.toMatch(/hook\?key|secret@/);
    const table = await commandLine(['doctor'], settings, directory);
    expect(table.code).toBe(0);
    expect(table.stdout).toMatch(/^carrier telnyx +true +it takes the credential/m);
    expect(carrier.server.taken).toHaveLength(0);
    expect(receiver.received).toHaveLength(0);
  });

  it('a carrier that refuses the credential, has no money, or is away is red; the others stay green', async () => {
    const server = carrier.server as typeof carrier.server & { apiKey: string };
    const { apiKey } = server;
    server.apiKey = 'KEY_rotated';
    undo.push(() => (server.apiKey = apiKey));
    const refused = await doctor(settings);
    expect(refused.get('carrier telnyx')).toMatchObject(
      red(/Telnyx refused the credential \(401 10009\)/, /CARRIERS_FILE carriers\.telnyx/),
    );
    expect(refused.stdout).not.toContain(apiKey);
    expect([...refused.values()].filter(({ ok }) => !ok)).toHaveLength(1);
    server.apiKey = apiKey;
    server.answer((request, response) => {
      if (request.url !== '/v2/balance') return false;
      const data = { available_credit: '-0.20', currency: 'USD' };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data }));
      return true;
    });
    undo.push(() => server.answer(undefined));
    expect((await doctor(settings)).get('carrier telnyx')).toMatchObject(
      red(/the balance is -0\.20 USD/, /add funds/),
    );
  });

  it('an SMSC that refuses the bind is red', async () => {
    // The bind of the gateway itself stays.
    smsc.bindStatus = 0x0e;
    undo.push(() => (smsc.bindStatus = 0));
    expect((await doctor(settings)).get('carrier smsc')).toMatchObject(
      red(
        /refused the bind \(ESME_RINVPASWD\)/,
        /check the settings of CARRIERS_FILE carriers\.smsc/,
      ),
    );
  });

  it('a carrier that the gateway has paused is red until it accepts again', async () => {
    await source.query(
      `INSERT INTO messaging_provider_pause (provider, paused_until, reason, trips)
       VALUES ('none', ${(Date.now() + HOUR) * 1_000}, 'throttled: Slow down', 1)`,
    );
    undo.push(() => source.query('DELETE FROM messaging_provider_pause'));
    expect((await doctor(settings)).get('carrier none')).toMatchObject(
      red(/it accepts nothing now: Slow down/, /dundun carriers/),
    );
  });

  it('a domain without a record, or whose name server is silent, is red', async () => {
    const [name, records] = [...dns.records].find(
      ([one, [first]]) => /domainkey/.test(one) && /k=rsa/.test(String(first?.data)),
    )!;
    dns.records.delete(name);
    undo.push(() => dns.records.set(name, records));
    const line = `domain mail.example.com`;
    expect((await doctor(settings)).get(line)).toMatchObject(
      red(
        /^TXT \S+\._domainkey\.mail\.example\.com is missing$/,
        /dundun domain verify --account acc_/,
      ),
    );
    dns.records.set(name, [{ type: 'TXT', data: 'v=DKIM1; p=other' }]);
    expect((await doctor(settings)).get(line)).toMatchObject(red(/is another one/, /publish/));
    dns.failing.add(name);
    undo.push(() => dns.failing.clear());
    expect((await doctor(settings)).get(line)).toMatchObject(red(/no name server answers/, /./));
    const { status } = await source.manager.findOneByOrFail(EmailDomain, { id: domain });
    expect(status).toBe('verified');
  });

  it('a webhook that takes no connection, fails, or was disabled for its failures is red; one that its account disabled is left out', async () => {
    const change = (values: Partial<WebhookEndpointEntity>) =>
      source.manager.update(WebhookEndpointEntity, { id: webhook }, values);
    undo.push(() =>
      change({ url: receiver.url, failingSince: null, disabledReason: null, disabledAt: null }),
    );
    const line = `webhook ${webhook}`;
    const port = await freePort();
    await change({ url: `http://127.0.0.1:${port}/hook?key=1` });
    const closed = await doctor(settings);
    expect(closed.get(line)).toMatchObject(
      red(
        /^http:\/\/127\.0\.0\.1:\d+ takes no connection \(ECONNREFUSED\)$/,
        /ask its account acc_/,
      ),
    );
    expect(closed.stdout).not.toContain('key=1');
    await change({ url: receiver.url, failingSince: Date.now() - 3 * HOUR });
    expect((await doctor(settings)).get(line)).toMatchObject(red(/errors since 3 h ago/, /./));
    await change({ disabledReason: 'failing', disabledAt: Date.now() - 3 * 24 * HOUR });
    expect((await doctor(settings)).get(line)).toMatchObject(
      red(/disabled 3 days ago \(failing\)/, /dundun webhook enable --account acc_/),
    );
    await change({ disabledReason: 'account' });
    expect((await doctor(settings)).has(line)).toBe(false);
  });

  it('a private address is no webhook where the settings refuse it', async () => {
    const lines = await doctor({ ...settings, WEBHOOK_ALLOW_PRIVATE: 'false' });
    expect(lines.get(`webhook ${webhook}`)).toMatchObject(red(/\(address_forbidden\)/, /./));
  });

  it('a carrier that took messages and never called back is red from an hour later on, and green once it calls', async () => {
    const { app } = gateway.running;
    const { carriers } = app.get<Environment>(ENVIRONMENT, { strict: false });
    const operations = app.get(MessagingOperations, { strict: false });
    const check = async (now: number) => {
      const publicUrl = 'https://gateway.example/';
      const checks = callbackChecks({ carriers, operations, dataSource: source, publicUrl, now });
      return (await runChecks(checks))[0];
    };
    const body = { from: 'ACME', to: ['2348012345678'], body: 'Hi' };
    await gateway.call('POST', '/ng/v1/sendsms', { token: acme.apiToken, body });
    await eventually(async () => expect(carrier.server.taken).toHaveLength(1));
    await eventually(async () =>
      expect(
        await operations.recentProviders({
          since: new Date(0),
          until: new Date(Date.now() + HOUR),
        }),
      ).toEqual(['telnyx']),
    );
    const now = Date.now();
    expect(await check(now)).toMatchObject(green);
    expect(await check(now + 2 * HOUR)).toMatchObject(
      red(
        /none seen yet, although it took messages/,
        /https:\/\/gateway\.example\/callbacks\/telnyx /,
      ),
    );
    const { path, body: called, headers } = carrier.written('2348012345679', 'Hello');
    const answer = await fetch(gateway.url + path, { method: 'POST', headers, body: called });
    expect(answer.status).toBe(204);
    expect(app.get(CallbackCounts, { strict: false }).snapshot().get('telnyx')?.accepted).toBe(1);
    await app.get(CallbackSightings, { strict: false }).write();
    expect(await check(now + 2 * HOUR)).toMatchObject({ ...green, detail: 'seen within a day' });
    // It has stopped to call since.
    await gateway.call('POST', '/ng/v1/sendsms', { token: acme.apiToken, body });
    await source.query(`UPDATE gateway_callback_sighting SET seen_at = ${now - 23 * HOUR}`);
    expect(await check(now + 2 * HOUR)).toMatchObject(red(/^none since 2/, /./));
  });

  it('a log of SQLite that a reader holds back is red', async () => {
    const wal = join(directory, 'gateway.sqlite-wal');
    await source.query('CREATE TABLE grow (n INTEGER)');
    expect(existsSync(wal)).toBe(true);
    truncateSync(wal, (1 << 30) + 4_096);
    expect((await doctor(settings)).get('database settings')).toMatchObject(
      red(/its log has 1024 MiB/, /end programs/),
    );
  });

  it('a clock that was set back behind the newest message is red', async () => {
    const database = parseDatabaseUrl(settings['DATABASE_URL'] ?? '');
    const behind = { now: () => Date.now() - HOUR };
    const [, clock] = await runChecks(databaseChecks(source, database, behind));
    expect(clock).toMatchObject({ name: 'clock', ...red(/ahead of it: it was set back/, /NTP/) });
  });
});

describe('dundun doctor without what it needs', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-doctor-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('wrong settings are one red line, which names them without their secrets', async () => {
    const lines = await doctor({ PORT: 'x', SECRETS_KEY: 'hunter2-hunter2' }, directory);
    expect([...lines.keys()]).toEqual(['settings']);
    expect(lines.get('settings')).toMatchObject(
      red(/PORT "x": .*SECRETS_KEY: /, /docs\/configuration/),
    );
    expect(lines.stdout).not.toContain('hunter2');
  });

  it('a database that is not there is a red line, and is not made; disk and Redis are examined', async () => {
    const file = join(directory, 'none.sqlite');
    const redis = `redis://127.0.0.1:${await freePort()}`;
    const none = { DATABASE_URL: `sqlite:${file}`, ENGINE: 'bullmq', REDIS_URL: redis };
    const lines = await doctor(none, directory);
    expect([...lines.keys()]).toEqual(['settings', 'database', 'disk', 'redis']);
    expect(lines.get('database')).toMatchObject(red(/file does not exist/, /DATABASE_URL/));
    expect(lines.get('disk')).toMatchObject(green);
    expect(lines.get('redis')).toMatchObject(red(/ECONNREFUSED/, /REDIS_URL/));
    expect(existsSync(file)).toBe(false);
  });

  it('a database server that refuses the connection is a red line without its address', async () => {
    const port = await freePort();
    const url = `postgres://dundun:hunter2@127.0.0.1:${port}/dundun`;
    const lines = await doctor({ DATABASE_URL: url }, directory);
    expect(lines.get('database')).toMatchObject(red(/^ECONNREFUSED$/, /DATABASE_URL/));
    expect(lines.stdout).not.toMatch(/hunter2|127\.0\.0\.1/);
  });

  it('a database whose tables are behind is a red line, and they stay as they are', async () => {
    const file = join(directory, 'behind.sqlite');
    await writeFile(file, '');
    const lines = await doctor({ DATABASE_URL: `sqlite:${file}` }, directory);
    expect(lines.get('database')).toMatchObject(red(/migrations behind/, /./));
  });
});

describe('a disk on sqlite', () => {
  it('a file on a disk with less than 1 GiB is red', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'dundun-doctor-disk-'));
    try {
      await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', directory]);
      const file = `sqlite:${join(directory, 'x.sqlite')}`;
      expect((await doctor({ DATABASE_URL: file })).get('disk')).toMatchObject(
        red(/MiB are free on the disk of the SQLite file/, /free or add space/),
      );
    } finally {
      await run('umount', ['-l', directory]);
      await rm(directory, { recursive: true });
    }
  });
});

describeUnless(PrivateRedis.missing, 'the check of Redis on redis', () => {
  let redis: PrivateRedis;
  afterEach(() => redis.kill());
  const check = async () => (await runChecks([redisCheck(redis.url)], { deadline: 1_000 }))[0];

  it('a policy that evicts is red, and green once it is noeviction', async () => {
    redis = await PrivateRedis.start('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
    expect(await check()).toMatchObject(red(/maxmemory-policy is allkeys-lru/, /noeviction/));
    await redis.call('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    expect(await check()).toMatchObject({ ...green, detail: 'it evicts nothing' });
    await redis.call('CONFIG', 'SET', 'maxmemory', '900kb');
    expect(await check()).toMatchObject(red(/% of maxmemory are used/, /raise maxmemory/));
  });

  it('a wrong password and a frozen server are red', async () => {
    redis = await PrivateRedis.start();
    await redis.call('CONFIG', 'SET', 'requirepass', 'right');
    const wrong = redisCheck(redis.url.replace('//', '//:hunter2@'));
    const [refused] = await runChecks([wrong]);
    expect(refused).toMatchObject(red(/WRONGPASS/, /REDIS_URL/));
    expect(JSON.stringify(refused)).not.toContain('hunter2');
    redis.freeze();
    expect(await check()).toMatchObject(red(/no answer within 1 s/, /REDIS_URL/));
  });
});

describeEachDatabase('the settings and the clock of the database', (database) => {
  const opened: DataSource[] = [];
  const open = async () => {
    const source = await database.open();
    opened.push(source);
    return source;
  };
  const examine = async (source: DataSource, clock = { now: () => Date.now() }) => {
    const url =
      database.kind === 'mariadb' ? database.url.replace('mysql:', 'mariadb:') : database.url;
    const [settings, time] = await runChecks(databaseChecks(source, parseDatabaseUrl(url), clock));
    return { settings, time };
  };

  it('right settings are green; a clock an hour apart is red', async () => {
    const source = await open();
    await source.query('CREATE TABLE messaging_batch (id VARCHAR(36))');
    const right = await examine(source);
    expect(right.settings).toMatchObject(green);
    expect(right.time).toMatchObject(green);
    if (database.kind === 'sqlite') return;
    for (const apart of [HOUR, -HOUR]) {
      const { time } = await examine(source, { now: () => Date.now() + apart });
      expect(time).toMatchObject(red(/differs from that of the database by 3600 s/, /NTP/));
    }
  });

  if (database.kind === 'postgres')
    it.each([
      ['synchronous_commit', 'off', /synchronous_commit is off/],
      ['default_transaction_read_only', 'on', /takes no writes/],
    ])('%s = %s is red', async (setting, value, detail) => {
      const first = await open();
      const [{ name }] = (await first.query('SELECT current_database() AS name')) as [
        { name: string },
      ];
      await first.query(`ALTER DATABASE "${name}" SET ${setting} = ${value}`);
      const { settings } = await examine(await open());
      await first.query(`ALTER DATABASE "${name}" RESET ${setting}`);
      expect(settings).toMatchObject(red(detail, /./));
    });

  if (database.kind === 'mariadb')
    it('a log that is not flushed at each commit is red', async () => {
      const source = await open();
      await source.query('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
      try {
        const { settings } = await examine(source);
        expect(settings).toMatchObject(
          red(
            /innodb_flush_log_at_trx_commit is 2/,
            /SET GLOBAL innodb_flush_log_at_trx_commit = 1/,
          ),
        );
      } finally {
        await source.query('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
      }
    });
});

describe('checks', () => {
  const check = (name: string, work: Check['run']): Check => ({
    name,
    remedy: 'mend it',
    run: work,
  });

  it('each has its own deadline, and at most eight run at once', async () => {
    let open = 0;
    let most = 0;
    const hang = (signal: AbortSignal) => {
      most = Math.max(most, ++open);
      return new Promise<string>((_, reject) =>
        signal.addEventListener('abort', () => {
          open--;
          reject(signal.reason as Error);
        }),
      );
    };
    const checks = Array.from({ length: 20 }, (_, n) =>
      n % 2 ? check(`c${n}`, () => 'right') : check(`c${n}`, hang),
    );
    const results = await runChecks(checks, { deadline: 50 });
    expect(most).toBe(8);
    expect(results.map(({ name }) => name)).toEqual(checks.map(({ name }) => name));
    expect(results.filter(({ ok }) => ok)).toHaveLength(10);
    expect(results[0]).toEqual({
      name: 'c0',
      ok: false,
      detail: 'no answer within 0.05 s',
      remedy: 'mend it',
    });
  });

  it('an unexpected error shows its code alone', async () => {
    const unexpected = () => {
      throw Object.assign(new Error('connect to 10.0.0.1 as hunter2'), { code: 'ECONNRESET' });
    };
    const own = () => {
      throw new CheckError('half of it is missing', 'add the other half');
    };
    expect(await runChecks([check('a', unexpected), check('b', own)])).toEqual([
      { name: 'a', ok: false, detail: 'ECONNRESET', remedy: 'mend it' },
      { name: 'b', ok: false, detail: 'half of it is missing', remedy: 'add the other half' },
    ]);
  });
});

describe('a database server that takes connections and says nothing', () => {
  it('is a red line after 10 s', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    try {
      for (const type of ['postgres', 'mariadb']) {
        const url = `${type}://dundun@127.0.0.1:${port}/dundun`;
        const lines = await doctor({ DATABASE_URL: url });
        expect(lines.get('database')).toMatchObject(
          red(/^(?:no answer in time|ETIMEDOUT)$/, /DATABASE_URL/),
        );
      }
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
    // Twice the time that a database has to answer.
  }, 60_000);
});
