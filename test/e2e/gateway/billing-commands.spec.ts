import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteDriver } from '../../../src/config/sqlite-driver.js';
import { Processes } from './built-gateway.js';

describe('the commands for prices and balances', () => {
  const processes = new Processes();
  const settings = { SMS_PRICES: 'NGN *=9.5', VOICE_PRICE: 'NGN 15 6/6' };
  let account: readonly string[];

  beforeAll(async () => {
    const made = await ask('account', 'create', '--name', 'acme');
    account = ['--account', String(made['account_id'])];
  });
  afterAll(() => processes.destroy());

  /** The one line of JSON a command answers, on stderr where it fails. */
  async function ask(...args: string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await processes.dundun([...args, '--json'], settings);
    return JSON.parse(code === 0 ? stdout : stderr) as Record<string, unknown>;
  }

  async function file(text: string): Promise<string> {
    await writeFile(join(await processes.directory(), 'rates.csv'), text);
    return 'rates.csv';
  }

  const refused = (message: string) => ({
    error: { code: 'invalid_field', message: expect.stringContaining(message) },
  });

  it('rates import stores a file, and rates list and rates find show it', async () => {
    const find = ['rates', 'find', '--channel', 'sms', '--number', '2348012345678'];
    const ofVariables = {
      version: 'variables',
      from: null,
      channel: 'sms',
      category: null,
      prefix: '*',
      price: '9.5',
      currency: 'NGN',
      billing: null,
    };
    expect(await ask(...find)).toEqual({ prices: [ofVariables] });
    const csv = await file(
      'channel,prefix,category,price,billing\nsms,*,,20,\nsms,234,,4.25,\nvoice,234,,15,6/6\nwhatsapp,*,utility,6.7,\n',
    );
    const import_ = ['rates', 'import', csv, '--currency', 'NGN'];
    const made = await ask(...import_);
    expect(made).toMatchObject({ card: 'default', currency: 'NGN', rates: 4 });
    expect(await ask(...find)).toMatchObject({
      prices: [{ version: made['version'], prefix: '234', price: '4.25' }],
    });
    const call = ['rates', 'find', '--channel', 'voice', '--number', '2348012345678'];
    expect(await ask(...call)).toMatchObject({ prices: [{ price: '15.00', billing: '6/6' }] });
    const utility = ['rates', 'find', '--channel', 'whatsapp', '--number', '447700900123'];
    expect(await ask(...utility, '--category', 'utility')).toMatchObject({
      prices: [{ price: '6.70' }],
    });
    expect(await ask(...utility, '--category', 'service')).toMatchObject({
      error: { code: 'not_found' },
    });
    const number = ['rates', 'find', '--number', '2348012345678'];
    expect(await ask(...number)).toMatchObject({
      prices: [
        { channel: 'sms', prefix: '234' },
        { channel: 'voice', prefix: '234' },
        { channel: 'whatsapp', category: 'utility', prefix: '*' },
      ],
    });
    const versions = ['--before', 'variables', '--after', String(made['version'])];
    expect(await ask('rates', 'compare', ...versions)).toMatchObject({
      before: 'variables',
      after: made['version'],
      added: [
        { channel: 'sms', prefix: '234', price: '4.25' },
        { channel: 'voice', prefix: '234' },
        { channel: 'whatsapp', category: 'utility' },
      ],
      changed: [{ channel: 'sms', prefix: '*', price: '20.00', former_price: '9.5' }],
    });
    expect(await ask('rates', 'compare', '--before', 'x', '--after', 'variables')).toMatchObject({
      error: { code: 'not_found' },
    });
    const later = await ask(...import_, '--from', '2150-01-01');
    expect(later).toMatchObject({ from: '2150-01-01T00:00:00.000Z' });
    expect(await ask('rates', 'list')).toMatchObject({
      rates: [
        { card: 'default', version: 'variables', from: null, state: 'former' },
        { version: made['version'], state: 'in force', rates: 4 },
        { version: later['version'], state: 'later', currency: 'NGN' },
      ],
    });
    const { stdout } = await processes.dundun(['rates', 'list'], settings);
    expect(stdout).toMatch(/^card +currency +version +from +rates +state$/m);
  });

  it('rates import names wrong lines, files and starts, and stores nothing', async () => {
    const before = await ask('rates', 'list');
    const given = ['--currency', 'NGN'];
    const wrong = await file('channel,prefix,price\nsms,234,free\nfax,*,1\n');
    const answer = await ask('rates', 'import', wrong, ...given);
    expect(answer).toMatchObject(refused('line 2: price must be'));
    expect(answer).toMatchObject(refused('line 3: channel must be'));
    expect(await ask('rates', 'import', 'none.csv', ...given)).toMatchObject(
      refused('none.csv cannot be read (ENOENT)'),
    );
    const right = await file('channel,prefix,price\nsms,234,1\n');
    expect(await ask('rates', 'import', right, ...given, '--from', 'soon')).toMatchObject(
      refused('from: must be a date'),
    );
    expect(await ask('rates', 'import', right, '--currency', 'USD')).toMatchObject(
      refused('currency: must be NGN'),
    );
    await writeFile(
      join(await processes.directory(), 'latin.csv'),
      Buffer.from('channel\xe9', 'latin1'),
    );
    expect(await ask('rates', 'import', 'latin.csv', ...given)).toMatchObject(refused('UTF-8'));
    expect(await ask('rates', 'list')).toEqual(before);
  });

  it('billing tops up once, adjusts, sets modes and limits, and shows and verifies them', async () => {
    expect(await ask('billing', 'show', ...account)).toMatchObject({
      mode: 'off',
      card: 'default',
      currency: null,
      balance: '0.00',
      available: '0.00',
    });
    const topUp = ['billing', 'top-up', ...account, '--amount', '5000', '--reference', 'INV-17'];
    const posted = { kind: 'top_up', amount: '5000.00', balance_after: '5000.00', currency: 'NGN' };
    expect(await ask(...topUp)).toMatchObject({ status: 'posted', ...posted });
    expect(await ask(...topUp)).toMatchObject({ status: 'posted before', ...posted });
    const adjust = ['billing', 'adjust', ...account, '--reference', 'A-1', '--note', 'Goodwill'];
    expect(await ask(...adjust, '--amount', '-12.5')).toMatchObject({
      status: 'posted',
      amount: '-12.50',
      balance_after: '4987.50',
    });
    expect(await ask(...adjust, '--amount', '-13')).toMatchObject(refused('-12.50 NGN already'));
    expect(await ask('billing', 'mode', ...account, '--mode', 'free')).toMatchObject({
      error: { code: 'invalid_usage' },
    });
    expect(await ask('billing', 'mode', ...account, '--mode', 'postpaid')).toMatchObject({
      mode: 'postpaid',
      available: '4987.50',
    });
    expect(await ask('billing', 'limit', ...account, '--limit', '100')).toMatchObject({
      credit_limit: '100.00',
      available: '5087.50',
    });
    expect(await ask('billing', 'entries', ...account)).toMatchObject({
      entries: [
        { kind: 'adjustment', amount: '-12.50', reference: 'A-1', note: 'Goodwill' },
        { kind: 'top_up', amount: '5000.00', reference: 'INV-17', note: null },
      ],
      next_cursor: null,
    });
    expect(await processes.dundun(['billing', 'verify', '--json'], settings)).toMatchObject({
      code: 0,
      stdout: '{"differences":[]}\n',
    });
    const database = new SqliteDriver(join(await processes.directory(), 'gateway.sqlite'));
    const audited = database
      .prepare(`SELECT action, target FROM gateway_audit WHERE account_id = ? ORDER BY id`)
      .all(account[1]);
    database.close();
    expect(audited).toEqual([
      { action: 'account.created', target: account[1] },
      { action: 'billing.topped_up', target: 'INV-17' },
      { action: 'billing.adjusted', target: 'A-1' },
      { action: 'billing.mode_changed', target: 'postpaid' },
      { action: 'billing.limit_changed', target: '100' },
    ]);
    const ofUnknownAccount = ['billing', 'show', '--account', 'acc_none'];
    expect(await ask(...ofUnknownAccount)).toMatchObject({ error: { code: 'not_found' } });
  });
});
