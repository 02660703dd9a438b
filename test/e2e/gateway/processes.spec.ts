import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isWellFormed } from '../../../src/accounts/credentials.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { eventually } from '../../support/eventually.js';
import { Processes } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';
import type { Ended } from './command-line.js';

/** Writes the path of each package that is loaded from node_modules to stderr. */
const LOADER = `export async function load(url, context, next) {
  if (url.includes('/node_modules/')) process.getBuiltinModule('node:fs').writeSync(2, url + '\\n');
  return next(url, context);
}`;
const scriptOf = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const LOGGED_LOADS = `--import ${scriptOf(
  `import { register } from 'node:module'; register(${JSON.stringify(scriptOf(LOADER))});`,
)}`;

const LAUNCHER = join(import.meta.dirname, '../../../src/cli/dundun.js');

/** The last line of stdout, which `--json` promises to be the only one of JSON. */
function answerOf({ code, stdout, stderr }: Ended): Record<string, string> {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '') as Record<string, string>;
}

async function send(url: string, token: string, from = 'ACME'): Promise<Response> {
  return fetch(`${url}/ng/v1/sendsms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ from, to: ['2348012345678'], body: 'Hello' }),
  });
}

describe('the built gateway and its command line', () => {
  let processes: Processes;

  beforeAll(() => buildGateway());
  beforeEach(() => {
    processes = new Processes();
  });
  afterEach(() => processes.destroy());

  it('the first start prints working curl lines once, and SIGTERM and SIGINT stop the gateway cleanly', async () => {
    const first = await processes.gateway();
    await eventually(async () => expect(first.output).toMatch(/^curl .*account\/balance.*\n\n/m));
    const lines = first.output.match(/^curl .*$/gm) ?? [];
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines) {
      const { stdout } = await promisify(execFile)('sh', ['-c', `${line} -s -w ' %{http_code}'`]);
      expect([line, stdout.slice(-4)]).toEqual([line, ' 200']);
      expect(stdout.includes('"balance":"')).toBe(line.includes('account/balance'));
    }
    const { stdout: all, ...end } = await first.stop('SIGTERM');
    expect(end).toEqual({ code: 0, stderr: '' });
    expect(all).toContain('"msg":"stopped"');
    const secrets = all.match(/(?:tok|svk)_[0-9A-Za-z]{49}/g) ?? [];
    expect(new Set(secrets).size).toBe(2);
    expect(secrets.every(isWellFormed)).toBe(true);

    const second = await processes.gateway();
    const { stdout: later, ...laterEnd } = await second.stop('SIGINT');
    expect(laterEnd).toEqual({ code: 0, stderr: '' });
    expect(later).toContain('"msg":"stopped"');
    expect(later).not.toMatch(/First start|tok_|svk_/);
  });

  it('messages accepted before SIGTERM or kill -9 are sent after the next start', async () => {
    const { api_token: token = '', account_id: account = '' } = answerOf(
      await processes.dundun(['account', 'create', '--name', 'acme', '--json']),
    );
    answerOf(
      await processes.dundun(['sender', 'add', '--account', account, '--sender', 'ACME', '--json']),
    );
    const ids: string[] = [];
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const gateway = await processes.gateway({ LEASE: '1s' });
      const answer = await send(gateway.url, token);
      expect(answer.status).toBe(200);
      ids.push(((await answer.json()) as { reference_id: string }).reference_id);
      await gateway.stop(signal);
    }
    const gateway = await processes.gateway({ LEASE: '1s' });
    for (const id of ids)
      await eventually(async () => {
        const read = await fetch(`${gateway.url}/ng/v1/sms/${id}`, {
          headers: { authorization: `Bearer ${token}` },
        });
        const batch = (await read.json()) as { status: string; counts: Record<string, number> };
        expect(batch.status).toBe('completed');
        // A report the carrier had not handed in yet is asked for after a minute.
        expect(['sent', 'delivered']).toContain(Object.keys(batch.counts).join());
      });
  });

  it('readiness loads no package that the bundle has', async () => {
    const gateway = await processes.gateway({ NODE_OPTIONS: LOGGED_LOADS });
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
    const { code, stderr } = await gateway.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).toContain('/node_modules/typeorm/');
    expect(stderr).not.toContain('/node_modules/@nestjs/');
  });

  it('on a terminal the log has lines for people, with links and requests but health checks; outside of development it is JSON', async () => {
    const terminal = { NODE_OPTIONS: `--import ${scriptOf('process.stdout.isTTY = true')}` };
    const gateway = await processes.gateway(terminal);
    for (const page of ['portal', 'portal/phone', 'docs'])
      expect((await gateway.told(new RegExp(`${gateway.url}/${page}\\b`))).length).toBe(1);
    await fetch(`${gateway.url}/health/live`);
    await fetch(`${gateway.url}/ng/v1/sms/2348012345678`);
    await gateway.told(
      /^\[\d\d:\d\d:\d\d\] INFO: Access: GET \/ng\/v1\/sms\/:referenceId 401 .*"request":"req-/m,
    );
    expect(gateway.output).not.toMatch(/2348012345678 401|^\{|GET \/health/m);
    await gateway.stop('SIGTERM');
    const silent = await processes.gateway({ ...terminal, NODE_ENV: 'test' });
    await fetch(`${silent.url}/health/live`);
    const { stdout } = await silent.stop('SIGTERM');
    for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toBeDefined();
    expect(stdout).not.toContain('Access');
  });

  it('GET / leads a browser to the portal, and is 404 for other clients', async () => {
    const gateway = await processes.gateway();
    const get = (accept: string, method = 'GET') =>
      fetch(gateway.url, { method, headers: { accept }, redirect: 'manual' });
    const page = await get('text/html,application/xhtml+xml,*/*;q=0.8');
    expect([page.status, page.headers.get('location')]).toEqual([302, '/portal']);
    for (const other of [await get('*/*'), await get('text/html', 'POST')]) {
      expect(other.status).toBe(404);
      expect(await other.json()).toMatchObject({ error: { code: 'not_found' } });
    }
  });

  it('a gateway that waits for the answers to many callbacks writes no warning', async () => {
    const receiver = await Receiver.start(() => undefined);
    try {
      const gateway = await processes.gateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
      const [token] = await gateway.told(/tok_[0-9A-Za-z]{49}/);
      const post = (path: string, body: object): Promise<Response> =>
        fetch(gateway.url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      await post('/ng/v1/webhooks', { url: receiver.url });
      const to = Array.from({ length: 20 }, (_, n) => String(2_348_012_340_000 + n));
      await post('/ng/v1/sendsms', { from: 'ACME', to, body: 'Hello', delivery_report: 'yes' });
      await receiver.first(16);
      const { code, stderr } = await gateway.stop('SIGTERM');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    } finally {
      await receiver.close();
    }
  });

  it('a CLI command migrates an empty database and works beside a running gateway', async () => {
    const created = answerOf(
      await processes.dundunProcess(['account', 'create', '--name', 'acme', '--json']),
    );
    expect(Object.keys(created)).toEqual(['account_id', 'api_token', 'api_key']);
    const { account_id: account = '', api_token: token = '' } = created;
    const gateway = await processes.gateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
    expect((await send(gateway.url, token)).status).toBe(422);

    const sender = ['sender', 'add', '--account', account, '--sender', 'ACME', '--json'];
    expect(answerOf(await processes.dundun(sender))).toEqual({
      account_id: account,
      sender: 'ACME',
    });
    expect(answerOf(await processes.dundun(sender))).toEqual({
      account_id: account,
      sender: 'ACME',
    });
    expect((await send(gateway.url, token)).status).toBe(200);

    const webhook = [
      'webhook',
      'set',
      '--account',
      account,
      '--url',
      'http://127.0.0.1:65535/reports',
      '--json',
    ];
    const set = answerOf(await processes.dundun(webhook, { WEBHOOK_ALLOW_PRIVATE: 'true' }));
    expect(set).toEqual({
      webhook_id: expect.any(String),
      url: 'http://127.0.0.1:65535/reports',
      secret: expect.stringMatching(/^whsec_/),
    });

    const rotated = answerOf(
      await processes.dundun(['token', 'rotate', '--account', account, '--json']),
    );
    expect((await send(gateway.url, String(rotated['api_token']))).status).toBe(200);
    await eventually(async () => {
      expect((await send(gateway.url, token)).status).toBe(401);
    });
    const made = answerOf(
      await processes.dundun([
        'key',
        'create',
        '--account',
        account,
        '--scope',
        'whatsapp:read',
        '--expires',
        '90d',
        '--json',
      ]),
    );
    expect(made).toMatchObject({ key_id: expect.any(String), scopes: ['whatsapp:read'] });
    const key = String(made['key_id']);
    answerOf(
      await processes.dundun(['key', 'revoke', '--account', account, '--key', key, '--json']),
    );
    const listed = await processes.dundun(['key', 'list', '--account', account, '--json']);
    expect(answerOf(listed)['keys']).toContainEqual({
      key_id: made['key_id'],
      last_four: expect.stringMatching(/^[0-9A-Za-z]{4}$/),
      status: 'revoked',
      scopes: ['whatsapp:read'],
      created_at: expect.any(String),
      expires_at: made['expires_at'],
      last_used_at: null,
    });
    const table = await processes.dundun(['key', 'list', '--account', account]);
    expect(table.stdout).toMatch(/^key_id +last_four +status[^]*\bwhatsapp:read\b/);
    answerOf(await processes.dundun(['account', 'suspend', '--account', account, '--json']));
    await eventually(async () => {
      expect((await send(gateway.url, String(rotated['api_token']))).status).toBe(403);
    });
  });

  it('CLI commands started together on an empty database all succeed', async () => {
    const names = ['a', 'b', 'c'];
    const ended = await Promise.all(
      names.map((name) => processes.dundunProcess(['account', 'create', '--name', name, '--json'])),
    );
    const ids = ended.map((end) => answerOf(end)['account_id']);
    expect(new Set(ids).size).toBe(names.length);
  });

  it('CLI commands and sends at the same time both succeed', async () => {
    const { account_id: account = '', api_token: token = '' } = answerOf(
      await processes.dundun(['account', 'create', '--name', 'busy', '--json']),
    );
    answerOf(
      await processes.dundun(['sender', 'add', '--account', account, '--sender', 'ACME', '--json']),
    );
    const gateway = await processes.gateway({ RATE_LIMIT: '1000/s' });
    let commanding = true;
    const statuses: number[] = [];
    const sending = (async () => {
      while (commanding) {
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => send(gateway.url, token)),
        );
        statuses.push(...answers.map(({ status }) => status));
      }
    })();
    for (let n = 0; n < 4; n++)
      answerOf(
        await processes.dundun([
          'sender',
          'add',
          '--account',
          account,
          '--sender',
          `S${n}`,
          '--json',
        ]),
      );
    commanding = false;
    await sending;
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it.each<[string, string[], Record<string, string>, string, RegExp]>([
    ['a missing option', ['account', 'create'], {}, 'invalid_usage', /--name/],
    ['an unknown command', ['acount'], {}, 'invalid_usage', /acount/],
    [
      'an unknown account',
      ['sender', 'add', '--account', 'acc_x', '--sender', 'ACME'],
      {},
      'not_found',
      /acc_x/,
    ],
    [
      'a bad sender',
      ['sender', 'add', '--account', '$account', '--sender', '1'],
      {},
      'invalid_field',
      /sender/,
    ],
    [
      'a bad scope',
      ['key', 'create', '--account', '$account', '--scope', 'x'],
      {},
      'invalid_field',
      /whatsapp:send, whatsapp:read/,
    ],
    [
      'a wrong setting',
      ['account', 'create', '--name', 'x'],
      { PORT: 'x' },
      'invalid_configuration',
      /PORT/,
    ],
  ])(
    '%s exits with 1 and one line of JSON on stderr',
    async (_what, args, settings, code, message) => {
      const made = await processes.dundun(['account', 'create', '--name', 'acme', '--json']);
      const account = String(answerOf(made)['account_id']);
      const given = args.map((word) => (word === '$account' ? account : word));
      const ended = await processes.dundun([...given, '--json'], settings);
      expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 1, stdout: '' });
      expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(JSON.parse(ended.stderr)).toEqual({
        error: { code, message: expect.stringMatching(message) },
      });
    },
  );

  it('the help and the version load nothing of the gateway', async () => {
    const manifest = await readFile(join(LAUNCHER, '../../../package.json'), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    const [help, told] = await Promise.all(
      ['--help', '--version'].map((option) =>
        processes.dundunProcess([option], { NODE_OPTIONS: LOGGED_LOADS }),
      ),
    );
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('webhook|webhooks') });
    expect(told).toMatchObject({ code: 0, stdout: `${version}\n` });
    for (const ended of [help, told])
      expect(ended?.stderr).not.toMatch(/node_modules\/(?!reflect-metadata)/);
  });

  it('an error without --json is a sentence on stderr', async () => {
    const lost = await processes.dundunProcess(['account', 'create', '--name', 'x', '--json'], {
      DATABASE_URL: 'postgres://x@127.0.0.1:1/x',
    });
    expect(lost).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(lost.stderr)).toEqual({
      error: { code: 'invalid_configuration', message: expect.stringMatching(/DATABASE_URL/) },
    });
    const unknown = ['sender', 'add', '--account', 'acc_x', '--sender', 'ACME'];
    const ended = await processes.dundunProcess(unknown);
    expect(ended).toEqual({ code: 1, stdout: '', stderr: 'There is no account acc_x\n' });
  });

  it('a wrong setting stops the start with an error that names it', async () => {
    const ended = await processes.failingGateway({ CARRIER: 'http', RATE_LIMIT: 'much' });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(
      /3 settings are wrong[^]*RATE_LIMIT "much"[^]*CARRIER_URL[^]*CARRIER_TOKEN/,
    );
  });
});

describe('the launcher', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-launcher-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('the launcher is executable and without a build names the build command', async () => {
    expect((await stat(LAUNCHER)).mode & 0o777).toBe(0o755);
    await mkdir(join(directory, 'src/cli'), { recursive: true });
    await cp(join(LAUNCHER, '../../../package.json'), join(directory, 'package.json'));
    await cp(LAUNCHER, join(directory, 'src/cli/dundun.js'));
    const run = promisify(execFile)(process.execPath, [join(directory, 'src/cli/dundun.js')]);
    await expect(run).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('npm run build'),
    });
  });
});

/** A child's output, once it contains the whole first-start text. */
