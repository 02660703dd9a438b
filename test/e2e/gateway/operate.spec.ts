import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Processes, type RunningGateway } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';

describe('an operator beside a running gateway', () => {
  const processes = new Processes();
  const settings = { WEBHOOK_ALLOW_PRIVATE: 'true' };
  let gateway: RunningGateway;
  let account: string;
  let webhook: string;
  let reference: string;

  beforeAll(async () => {
    await buildGateway();
    const made = await ask('account', 'create', '--name', 'acme');
    account = String(made['account_id']);
    gateway = await processes.gateway(settings);
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const answer = await fetch(gateway.url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${String(made['api_token'])}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as Record<string, unknown>;
    };
    await ask('sender', 'add', '--account', account, '--sender', 'ACME');
    const message = { from: 'ACME', to: ['2348012345678'], body: 'Later' };
    const sent = await post('/ng/v1/sendsms', { ...message, send_at: '2150-01-01T00:00:00Z' });
    reference = String(sent['reference_id']);
    webhook = String(
      (await post('/ng/v1/webhooks', { url: 'http://127.0.0.1:65535/' }))['webhook_id'],
    );
  });
  afterAll(() => processes.destroy());

  /** The one line of JSON a command answers, on stderr where it fails. */
  async function ask(...args: string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await processes.dundun([...args, '--json'], settings);
    const told = code === 0 ? stdout : stderr;
    expect(told.trimEnd().split('\n')).toHaveLength(1);
    return JSON.parse(told) as Record<string, unknown>;
  }

  it('account list pages through all accounts', async () => {
    await ask('account', 'suspend', '--account', account);
    const made = new Set<unknown>([account]);
    for (let n = 0; n < 50; n++)
      made.add((await ask('account', 'create', '--name', `a${n}`))['account_id']);
    const first = await ask('account', 'list');
    const second = await ask('account', 'list', '--cursor', String(first['next_cursor']));
    const pages = [first, second].map(({ accounts }) => accounts as Record<string, unknown>[]);
    expect(pages.map(({ length }) => length)).toEqual([50, 1]);
    expect(new Set(pages.flat().map(({ account_id: id }) => id))).toEqual(made);
    expect(second).toMatchObject({
      accounts: [{ account_id: account, name: 'acme', status: 'suspended' }],
      next_cursor: null,
    });
    await ask('account', 'resume', '--account', account);
    expect(await ask('account', 'list', '--cursor', 'x')).toMatchObject({
      error: { code: 'invalid_field' },
    });
  });

  it('batches list shows batches and batches cancel cancels one', async () => {
    const of = ['--account', account];
    const one = [...of, '--reference', reference];
    const [list, ofWhatsApp, ofFax, shown, wrong] = await Promise.all([
      ask('batches', 'list', ...of),
      ask('batches', 'list', ...of, '--channel', 'whatsapp'),
      ask('batches', 'list', ...of, '--channel', 'fax'),
      ask('batches', 'show', ...one),
      ask('batches', 'show', ...of, '--reference', 'x'),
    ]);
    const row = {
      reference_id: reference,
      from: 'ACME',
      recipients: 1,
      status: 'scheduled',
      counts: { queued: 1 },
    };
    expect(list).toMatchObject({ batches: [row], next_cursor: null });
    expect(ofWhatsApp).toMatchObject({ batches: [], next_cursor: null });
    expect(ofFax).toMatchObject({ error: { message: expect.stringContaining('fax') } });
    expect(shown).toMatchObject(row);
    expect(JSON.stringify(list)).not.toMatch(/2348012345678|Later/);
    expect(wrong).toMatchObject({ error: { code: 'invalid_field' } });
    expect(await ask('batches', 'cancel', ...one)).toMatchObject({ counts: { cancelled: 1 } });
    const { stdout } = await processes.dundun(['batches', 'show', ...one], settings);
    expect(stdout).toMatch(/^counts +cancelled=1$/m);
  });

  it('the webhook commands list, enable, redeliver and rotate', async () => {
    const one = ['--account', account, '--webhook', webhook];
    const [list, enabled, rotated, redelivered] = await Promise.all([
      ask('webhooks', 'list', '--account', account),
      ask('webhooks', 'enable', ...one),
      ask('webhooks', 'rotate-secret', ...one),
      ask('webhooks', 'redeliver', ...one, '--since', '2026-01-01T00:00:00Z'),
    ]);
    expect(list).toMatchObject({ webhooks: [{ webhook_id: webhook, status: 'enabled' }] });
    expect(JSON.stringify(list)).not.toContain('whsec_');
    expect(enabled).toMatchObject({ status: 'enabled' });
    expect(rotated).toMatchObject({ secret: expect.stringMatching(/^whsec_/) });
    expect(redelivered).toEqual({ webhook_id: webhook, redelivered: 0 });
  });

  it('lanes lists the lanes and lanes resume refuses an unknown one', async () => {
    const [lanes, none] = await Promise.all([
      ask('lanes'),
      ask('lanes', 'resume', '--lane', 'nobody:sms'),
    ]);
    expect(lanes).toEqual({ lanes: [], holds: [] });
    expect(none).toMatchObject({ error: { code: 'not_found' } });
  });

  it('config check validates the settings and shows no secret', async () => {
    const check = ['config', 'check', '--json'];
    const [good, wrong, lost] = await Promise.all([
      processes.dundun(check, { METRICS_TOKEN: 'metrics-secret' }),
      processes.dundun(check, { PORT: 'x', LEASE: '1' }),
      processes.dundun(check, { DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/x' }),
    ]);
    const told = JSON.parse(good.stdout) as Record<string, unknown>;
    expect(told).toMatchObject({ status: 'ok', database: 'file gateway.sqlite' });
    expect(told['settings']).toContainEqual({
      variable: 'METRICS_TOKEN',
      value: '(secret)',
      from: 'environment',
    });
    expect(good.stdout).not.toContain('metrics-secret');
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toMatch(/PORT[^]*LEASE/);
    expect(lost.stderr).toContain('DATABASE_URL');
    expect(lost.stderr).not.toContain('hunter2');
  });

  it('config check refuses a key that is not the key of the database, and changes nothing', async () => {
    const key = (byte: number) => ({ SECRETS_KEY: Buffer.alloc(32, byte).toString('base64') });
    const own = { DATABASE_URL: 'sqlite:keyed.sqlite' };
    const check = (more: Record<string, string>) =>
      processes.dundun(['config', 'check', '--json'], { ...own, ...more });
    expect(await check(key(1))).toMatchObject({ code: 0 });
    await processes.dundun(['account', 'list'], { ...own, ...key(1) });
    expect(await check(key(1))).toMatchObject({ code: 0 });
    for (const more of [key(2), {}])
      expect(await check(more)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('SECRETS_KEY'),
      });
  });

  it('database migrate creates the tables of an empty database in production, and a second run changes nothing', async () => {
    const own = {
      DATABASE_URL: 'sqlite:migrated.sqlite',
      NODE_ENV: 'production',
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    };
    for (let n = 0; n < 2; n++)
      expect(await processes.dundun(['database', 'migrate', '--json'], own)).toEqual({
        code: 0,
        stdout: '{"status":"up to date"}\n',
        stderr: '',
      });
  });

  it('a command whose output pipe is closed ends without an error', async () => {
    const { stderr } = await processes.dundunInto(['config', 'check'], 'true');
    expect(stderr).toBe('');
  });
});
