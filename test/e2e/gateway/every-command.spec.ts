import { MessagingOperations } from '@dundun/messaging/operations';
import { VasService } from '@dundun/messaging';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { commandsOf } from '../../../src/cli/command-line.js';
import { Audit, type AuditAction } from '../../../src/portal/audit.js';
import { eventually } from '../../support/eventually.js';
import { limitTests } from '../../support/time-limit.js';
import { commandLine } from './command-line.js';
import { signedIn } from '../portal/portal-client.js';
import { TestGateway } from './test-gateway.js';

// Each case starts a command, which takes up to a second.
limitTests(120);

const SETTINGS = {
  WEBHOOK_ALLOW_PRIVATE: 'true',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  PROBE_NUMBERS: '2348012340001',
  PROBE_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  PROBE_WAIT: '1s',
};

const SENDER = ['--sender', 'SHOP'];
const CALLER = ['--caller', '2348000000008'];
const PHONE = ['--phone', '2348012340001'];
const EMAIL = ['--email', 'ada@example.com'];
const DOMAIN = ['--domain', 'mail.example.com'];
const BY = ['--by', 'ada'];
const CASH = ['--amount', '5', '--reference'];

/** Names of what the commands before have made: `$key` and others in the arguments. */
type Made = Record<string, string>;

interface Case {
  /** Without `--account`. */
  readonly args?: readonly string[];
  /** The entry of its change; `null`: it changes nothing, or nothing that belongs to the gateway. */
  readonly audit: AuditAction | null;
  /** Whether the entry belongs to no account. */
  readonly ofGateway?: true;
  /** Exit code. @default 0 */
  readonly code?: number;
  /** The field of the answer that later commands name. */
  readonly makes?: readonly [name: string, field: string];
}

/** Every command, in an order in which each works. */
const COMMANDS: Readonly<Record<string, Case>> = {
  'account create': { args: ['--name', 'new'], audit: 'account.created' },
  'account list': { audit: null },
  'account suspend': { audit: 'account.suspended' },
  'account resume': { audit: 'account.resumed' },
  'account rate': { args: ['--rate', '50/s'], audit: 'account.rate_changed' },
  'account words': { args: ['--stop-reply', 'Bye'], audit: 'account.words_changed' },
  'account guard': { args: ['--recipient', '100/h'], audit: 'account.guard_changed' },
  'account second-factor': { args: ['--require', 'no'], audit: 'account.second_factor' },
  'token create': {
    args: ['--name', 'shop', '--scope', 'sms:send'],
    audit: 'token.created',
    makes: ['token', 'token_id'],
  },
  'token list': { audit: null },
  'token rotate': { audit: 'token.rotated' },
  'token revoke': { args: ['--token', '$token'], audit: 'token.revoked' },
  'key create': { audit: 'key.created', makes: ['key', 'key_id'] },
  'key list': { audit: null },
  'key revoke': { args: ['--key', '$key'], audit: 'key.revoked' },
  'user invite': { args: ['--role', 'admin'], audit: 'member.invited' },
  'user list': { audit: null },
  'sender add': { args: SENDER, audit: 'sender.added' },
  'sender list': { audit: null },
  'sender approve': { args: ['--sender', 'WAITS'], audit: 'sender.approved' },
  'sender reject': { args: ['--sender', 'WAITS2'], audit: 'sender.rejected' },
  'sender remove': { args: SENDER, audit: 'sender.deleted' },
  'caller add': { args: CALLER, audit: 'caller.added' },
  'caller list': { audit: null },
  'caller approve': { args: ['--caller', '2348000000011'], audit: 'caller.approved' },
  'caller reject': { args: ['--caller', '2348000000012'], audit: 'caller.rejected' },
  'caller remove': { args: CALLER, audit: 'caller.removed' },
  'do-not-call add': { args: PHONE, audit: 'do_not_call.added' },
  'do-not-call list': { audit: null },
  'do-not-call remove': { args: PHONE, audit: 'do_not_call.removed' },
  'smpp add': { audit: 'smpp.added', makes: ['system', 'system_id'] },
  'smpp change': {
    args: ['--system-id', '$system', '--data-coding-0', 'gsm7'],
    audit: 'smpp.changed',
  },
  'smpp list': { audit: null },
  'smpp rotate': { args: ['--system-id', '$system'], audit: 'smpp.rotated' },
  'smpp remove': { args: ['--system-id', '$system'], audit: 'smpp.removed' },
  'webhook set': {
    args: ['--url', 'http://127.0.0.1:65535/'],
    audit: 'webhook.changed',
    makes: ['webhook', 'webhook_id'],
  },
  'webhook list': { audit: null },
  'webhook enable': { args: ['--webhook', '$webhook'], audit: 'webhook.changed' },
  'webhook rotate-secret': { args: ['--webhook', '$webhook'], audit: 'webhook.secret_rotated' },
  'webhook redeliver': { args: ['--webhook', '$webhook'], audit: 'webhook.redelivered' },
  'number add': { args: ['--number', '2348000000009'], audit: 'number.added' },
  'template add': {
    args: ['--name', 'order', '--category', 'utility'],
    audit: 'template.changed',
  },
  'template list': { audit: null },
  'domain add': { args: DOMAIN, audit: 'domain.added' },
  'domain list': { audit: null },
  'domain verify': { args: DOMAIN, audit: 'domain.verified' },
  'domain rotate': { args: DOMAIN, audit: 'domain.rotated' },
  'suppression add': { args: EMAIL, audit: 'suppression.added' },
  'suppression list': { audit: null },
  'suppression remove': { args: EMAIL, audit: 'suppression.lifted' },
  'billing mode': { args: ['--mode', 'postpaid'], audit: 'billing.mode_changed' },
  'billing show': { audit: null },
  'billing limit': { args: ['--limit', '5000'], audit: 'billing.limit_changed' },
  'billing top-up': { args: [...CASH, 'A'], audit: 'billing.topped_up' },
  'billing adjust': { args: [...CASH, 'B'], audit: 'billing.adjusted' },
  'billing entries': { audit: null },
  'billing statement': { args: ['--month', '2026-11'], audit: null },
  'billing alerts': { args: ['--low', '500', '100'], audit: 'billing.thresholds_set' },
  'billing budget set': {
    args: ['--period', 'month', '--limit', '90'],
    audit: 'billing.budget_set',
  },
  'billing budget list': { audit: null },
  'billing budget remove': { args: ['--period', 'month'], audit: 'billing.budget_removed' },
  'billing margins': { args: ['--month', '2026-11'], audit: null },
  'billing verify': { audit: null },
  'rates import': {
    args: ['$rates', '--currency', 'USD'],
    audit: 'rates.imported',
    ofGateway: true,
    makes: ['version', 'version'],
  },
  'rates list': { audit: null },
  'rates find': { args: ['--number', '2348012340001'], audit: null },
  'rates compare': { args: ['--before', '$version', '--after', '$version'], audit: null },
  'messages list': { audit: null },
  'messages show': { args: ['--message', '$failed'], audit: null },
  'messages resend': {
    args: ['--message', '$failed'],
    audit: 'message.resent',
    ofGateway: true,
  },
  'messages settle': {
    args: ['--message', '$lost', '--as', 'failed', ...BY],
    audit: 'message.settled',
    ofGateway: true,
  },
  'messages resend-all': { args: ['--channel', 'whatsapp', ...BY], audit: 'messages.resent' },
  'messages settle-all': {
    args: ['--channel', 'whatsapp', '--as', 'failed', ...BY],
    audit: 'messages.settled',
  },
  'batches list': { audit: null },
  'batches show': { args: ['--reference', '$batch'], audit: null },
  'batches cancel': { args: ['--reference', '$batch'], audit: 'batch.cancelled' },
  'reports unmatched': { audit: null },
  'contact import': { args: ['$contacts'], audit: 'contacts.imported' },
  'contact erase': { args: PHONE, audit: 'contact.erased' },
  'vas orders': { audit: null },
  'vas settle': {
    args: ['--order', '$order', '--as', 'failed', ...BY],
    audit: 'order.settled',
  },
  'vas allow': {
    args: ['--daily', '100', '--per-number', '10'],
    audit: 'orders.allowed',
  },
  carriers: { audit: null },
  // A host of a webhook is not there.
  doctor: { audit: null, code: 1 },
  // The simulator has no phone.
  probe: { audit: 'probes.sent', ofGateway: true, code: 1 },
  requests: { audit: null },
  'insights show': { audit: null },
  'insights receipts': { audit: null },
  'alerts list': { audit: null },
  'alerts rule list': { audit: null },
  'alerts rule add': {
    args: ['--kind', 'balance_low', '--set', 'below=50', '--pause', '6h'],
    audit: 'alert_rule.added',
    makes: ['rule', 'id'],
  },
  'alerts rule change': {
    args: ['--rule', 'lane_waiting', '--set', 'after=20m'],
    audit: 'alert_rule.changed',
    ofGateway: true,
  },
  'alerts rule remove': {
    args: ['--rule', '$rule'],
    audit: 'alert_rule.removed',
    ofGateway: true,
  },
  'alerts channel list': { audit: null },
  'alerts channel add': {
    args: ['--slack', 'http://127.0.0.1:65535/'],
    audit: 'alert_channel.added',
    ofGateway: true,
    makes: ['channel', 'id'],
  },
  'alerts channel test': {
    args: ['--channel', '$channel'],
    audit: 'alert_channel.tested',
    ofGateway: true,
  },
  'alerts channel remove': {
    args: ['--channel', '$channel'],
    audit: 'alert_channel.removed',
    ofGateway: true,
  },
  'insights rebuild': { audit: null },
  'import kannel': { args: ['$kannel', '--to', '$imported'], audit: null },
  'config check': { audit: null },
  'database migrate': { audit: null },
  backup: { args: ['$copy', '--force'], audit: null },
  'secrets rotate': { audit: 'secrets.rotated', ofGateway: true },
  'lanes list': { audit: null },
  'lanes pause': {
    args: ['--lane', '*:vas', '--reason', 'test'],
    audit: 'lane.paused',
    ofGateway: true,
  },
  'lanes resume': { args: ['--lane', '*:vas'], audit: 'lane.resumed', ofGateway: true },
  'lanes drain': { args: ['--lane', '*:vas'], audit: 'lane.paused', ofGateway: true },
  restore: { args: ['--mark'], audit: 'lanes.held_as_restored', ofGateway: true },
  'lanes release': { args: ['--send'], audit: 'lanes.released', ofGateway: true },
  'vas release': { audit: 'orders.released', ofGateway: true },
  'user reset': { args: ['--user', '$user'], audit: 'user.password_link', ofGateway: true },
  'user second-factor-reset': {
    args: ['--user', '$user'],
    audit: 'user.second_factor_reset',
    ofGateway: true,
  },
  'user remove': { args: ['--user', '$user'], audit: 'member.removed' },
  completion: { args: ['bash'], audit: null },
};

function leavesOf(command: Command, words: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]];
  return command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]));
}

describe('every command', () => {
  const gateway = new TestGateway(SETTINGS);
  const made: Made = {};
  let directory: string;
  let account: string;
  let leaves: ReadonlyMap<string, Command>;

  beforeAll(async () => {
    await gateway.start();
    directory = await mkdtemp(join(tmpdir(), 'dundun-commands-'));
    leaves = new Map(leavesOf(await commandsOf(() => true)));
    const { accountId, apiToken: token } = await gateway.account();
    account = accountId;
    for (const [channel, sender] of [
      ['sms', 'WAITS'],
      ['sms', 'WAITS2'],
      ['voice', '2348000000011'],
      ['voice', '2348000000012'],
    ] as const)
      await gateway.senders.request({ accountId, channel, sender });
    await gateway.senders.add({ accountId, channel: 'voice', sender: '2348000000007' });
    made['user'] = (await signedIn(gateway, 'viewer', accountId)).email;
    made['rates'] = join(directory, 'rates.csv');
    await writeFile(made['rates'], 'channel,prefix,category,price\nsms,*,,20\n');
    made['contacts'] = join(directory, 'contacts.csv');
    await writeFile(made['contacts'], 'phone,name\n2348012340001,Ada\n');
    made['copy'] = join(directory, 'copy.sqlite');
    made['kannel'] = join(directory, 'kannel.conf');
    await writeFile(made['kannel'], 'group = smsc\nsmsc = fake\nport = 10000\n');
    made['imported'] = join(directory, 'carriers.yaml');
    const post = async (path: string, body: object): Promise<Record<string, unknown>> =>
      (await gateway.call('POST', path, { token, body })).body;
    const sms = { from: 'ACME', body: 'Hello' };
    const failed = await post('/ng/v1/sendsms', { ...sms, to: ['2348012349901'] });
    const later = { ...sms, to: ['2348012340001'], send_at: '2150-01-01T00:00:00Z' };
    made['batch'] = String((await post('/ng/v1/sendsms', later))['reference_id']);
    const lost = await post('/ng/v1/voice/calls', {
      from: '2348000000007',
      to: ['2348012349908'],
      text: 'Hello',
    });
    await gateway.running.app
      .get(VasService, { strict: false })
      .allow({ daily: '1000', perNumber: '1000', currency: 'NGN' }, { tenant: accountId });
    const ordered = { to: '2348012349909', product: 'airtime-ng', amount: '100' };
    made['order'] = String(
      (await post('/ng/v1/vas/orders', { ...ordered, client_reference: 'a' }))['id'],
    );
    made['failed'] = `${String(failed['reference_id'])}-0`;
    made['lost'] = `${String(lost['reference_id'])}-0`;
    const ends = { [made['failed']]: 'undelivered', [made['lost']]: 'unknown' };
    ends[`${made['order']}-0`] = 'unknown';
    const operations = gateway.running.app.get(MessagingOperations, { strict: false });
    await eventually(async () => {
      const { data } = await operations.messages({ tenants: [accountId] });
      const others = data.filter(({ id, status }) => id in ends && ends[id] !== status);
      if (others.length > 0) throw new Error(`${others[0]?.id} is ${others[0]?.status}`);
    });
  });
  afterAll(async () => {
    await gateway.destroy();
    await rm(directory, { recursive: true, force: true });
  });

  const settings = () => ({
    NODE_ENV: 'test',
    DATABASE_URL: gateway.databaseUrl,
    ...SETTINGS,
  });
  const takesAccount = (name: string) =>
    leaves.get(name)?.options.some(({ long }) => long === '--account');
  function run(name: string, of: string) {
    const given = (COMMANDS[name]?.args ?? []).map((word) =>
      word.startsWith('$') ? (made[word.slice(1)] ?? word) : word,
    );
    const args = [...name.split(' '), ...(takesAccount(name) ? ['--account', of] : []), ...given];
    const prints = leaves.get(name)?.options.some(({ long }) => long === '--json');
    return commandLine([...args, ...(prints ? ['--json'] : [])], settings(), directory);
  }
  const entries = async () =>
    (await gateway.running.app.get(Audit, { strict: false }).list(null, { limit: 200 })).data;

  it('every command has a case here', () => {
    expect(Object.keys(COMMANDS).toSorted()).toEqual([...leaves.keys()].toSorted());
  });

  it('a command with an unknown account ends with 1 and changes nothing', async () => {
    const before = await entries();
    for (const name of Object.keys(COMMANDS).filter(takesAccount)) {
      const { code, stdout, stderr } = await run(name, 'acc_unknown');
      expect({ name, code, stdout }).toEqual({ name, code: 1, stdout: '' });
      expect(JSON.parse(stderr)).toEqual({
        error: { code: 'not_found', message: 'There is no account acc_unknown' },
      });
    }
    expect(await entries()).toEqual(before);
  });

  it.each(Object.entries(COMMANDS))(
    '%s leaves an entry in the audit log where it changes something',
    async (name, { audit, ofGateway, makes, code: expected = 0 }) => {
      const before = await entries();
      const { code, stdout, stderr } = await run(name, account);
      expect({ code, stderr }).toEqual({ code: expected, stderr: '' });
      const answer = name === 'completion' ? {} : (JSON.parse(stdout) as Record<string, unknown>);
      if (makes) made[makes[0]] = String(answer[makes[1]]);
      const after = await entries();
      const added = after.slice(0, after.length - before.length);
      const isOfAccount = ofGateway
        ? null
        : name === 'account create'
          ? answer['account_id']
          : account;
      expect(added.map(({ action, accountId, userId }) => ({ action, accountId, userId }))).toEqual(
        audit === null ? [] : [{ action: audit, accountId: isOfAccount, userId: null }],
      );
      expect(added.every(({ title, action }) => title !== action)).toBe(true);
    },
  );

  it('contact import skips rows with errors, names them by line, and ends with 1', async () => {
    const file = join(directory, 'mixed.csv');
    await writeFile(file, 'phone,name\n2348012340002,Ada\nnobody,Bob\n');
    const args = ['contact', 'import', '--account', account, '--json'];
    const ended = await commandLine([...args, file], settings(), directory);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(ended.stdout)).toEqual({
      account_id: account,
      imported: 1,
      failed: 1,
      errors: [{ line: 3, path: 'phone', message: expect.any(String) }],
    });
    const none = await commandLine([...args, 'none.csv'], settings(), directory);
    expect(JSON.parse(none.stderr)).toEqual({
      error: { code: 'invalid_field', message: 'file: none.csv cannot be read (ENOENT)' },
    });
  });
});
