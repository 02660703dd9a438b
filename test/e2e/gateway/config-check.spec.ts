import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildGateway } from '../../support/builds.js';
import { Processes } from './built-gateway.js';

const HTTP = { type: 'http', url: 'https://carrier.example.com', token: 'tok_1' };
const SMPP = { type: 'smpp', url: 'smpp://id:secret@smsc.example.com:2775' };

/** Files that the start refuses, and what it says of them. */
const WRONG = [
  {
    carriers: { a: HTTP, b: SMPP },
    routes: [
      { channel: 'sms', use: 'a' },
      { channel: 'voice', use: 'b' },
    ],
    says: 'CARRIERS_FILE routes[1]: provider b does not carry the channel voice',
  },
  {
    carriers: { a: { type: 'simulator' } },
    routes: [
      { channel: 'sms', use: 'a' },
      { channel: 'email', use: 'a' },
    ],
    says: 'CARRIERS_FILE routes[1]: can never match, because the rule of EMAIL_CARRIER matches first',
  },
  {
    carriers: { a: HTTP },
    routes: [{ use: 'a' }, { channel: 'sms', use: 'c' }],
    says: "CARRIERS_FILE routes[1].use: there is no provider 'c'",
  },
] as const;

const RELAY = 'smtp://user:secret@relay.example.com';

/** Wrong carriers in both forms, and what the start says of each. */
const BOTH = [
  {
    variables: { CARRIER: 'kannel' },
    carrier: { type: 'kannel' },
    says: ['KANNEL_URL: is missing; CARRIER=kannel', 'CARRIERS_FILE carriers.one.url: is missing'],
  },
  {
    variables: { CARRIER: 'smpp', SMPP_URL: SMPP.url, SMPP_BINDS: '3', SMPP_MAX_BINDS: '2' },
    carrier: { ...SMPP, binds: 3, max_binds: 2 },
    says: ['SMPP_MAX_BINDS: must be', 'CARRIERS_FILE carriers.one.max_binds: must be'],
  },
  // The provider refuses it, once its modules are made.
  {
    variables: { EMAIL_CARRIER: 'smtp', SMTP_URL: RELAY, SMTP_TLS: 'off' },
    carrier: { type: 'smtp', url: RELAY, tls: 'off' },
    says: ["SMTP_TLS: must be 'required'", "CARRIERS_FILE carriers.one.tls: must be 'required'"],
  },
] as const;

describe('wrong carriers', () => {
  const processes = new Processes();
  beforeAll(() => buildGateway());
  afterAll(() => processes.destroy());

  async function expectBothSay(says: string, settings: Readonly<Record<string, string>>) {
    const [checked, started] = await Promise.all([
      processes.dundun(['config', 'check'], settings),
      processes.failingGateway(settings),
    ]);
    expect([checked.code, started.code]).toEqual([1, 1]);
    expect(checked.stderr).toContain(says);
    expect(started.stderr).toBe(checked.stderr);
    expect(started.stdout).not.toMatch(/\bat .*\.js:\d+/);
    expect(started.stderr).not.toContain(':secret@');
  }

  it.each(WRONG)('`config check` and the start say the same of a file: $says', async (wrong) => {
    const { says, ...file } = wrong;
    await expectBothSay(says, { CARRIERS_FILE: await written(file), EMAIL_CARRIER: 'simulator' });
  });

  it.each(BOTH)(
    '`config check` and the start say the same of wrong variables and of a file: $says',
    async ({ variables, carrier, says }) => {
      await expectBothSay(says[0], variables);
      const file = { carriers: { one: carrier }, routes: [{ use: 'one' }] };
      await expectBothSay(says[1], { CARRIERS_FILE: await written(file) });
    },
  );

  async function written(file: object): Promise<string> {
    const path = join(await processes.directory(), 'carriers.json');
    await writeFile(path, JSON.stringify(file));
    return path;
  }
});
