import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { certificates } from '../../support/certificates.js';
import { DnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { ScriptedSmtp } from '../../support/scripted-smtp.js';
import { Processes } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

const BASE = '/email/ng/v1';

interface DnsRecordOfDomain {
  readonly purpose: string;
  readonly type: 'TXT' | 'CNAME' | 'MX';
  readonly name: string;
  readonly value: string;
  readonly status: string;
}

describe('the return path of a domain', () => {
  let dns: DnsServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    dns = await DnsServer.start();
  });
  afterEach(() => gateway.destroy());
  afterAll(() => dns.close());

  /** The records of a new domain, without those of its keys. */
  async function recordsWith(settings: Record<string, string>): Promise<{
    readonly records: readonly DnsRecordOfDomain[];
    readonly verify: () => Promise<readonly string[]>;
  }> {
    gateway = await new TestGateway({
      EMAIL_DNS_SERVERS: dns.address,
      PUBLIC_URL: 'https://mail.gateway.example/base',
      ...settings,
    }).start();
    const { apiKey: token } = await gateway.account();
    const ask = async (path: string, body?: object) => {
      const answer = await gateway.call('POST', `${BASE}/domains${path}`, {
        token,
        ...(body && { body }),
      });
      const records = answer.body['records'] as DnsRecordOfDomain[];
      return { id: String(answer.body['id']), records: records.slice(2) };
    };
    const { id, records } = await ask('', { name: 'shop.example' });
    const verify = async () =>
      (await ask(`/${id}/verify`)).records.map(({ purpose, status }) => `${purpose} ${status}`);
    return { records, verify };
  }

  const shown = (records: readonly DnsRecordOfDomain[]) =>
    records.map(({ purpose, type, name, value }) => [purpose, type, name, value]);

  it('the return path is an MX record to the host of PUBLIC_URL and the TXT record of EMAIL_SPF', async () => {
    const EMAIL_SPF = 'v=spf1 ip4:192.0.2.1 include:relay.example -all';
    const { records, verify } = await recordsWith({ EMAIL_SPF });
    expect(shown(records)).toEqual([
      ['return_path', 'MX', 'bounce.shop.example', '10 mail.gateway.example'],
      ['return_path_spf', 'TXT', 'bounce.shop.example', EMAIL_SPF],
      ['dmarc', 'TXT', '_dmarc.shop.example', 'v=DMARC1; p=none'],
      ['inbound', 'MX', 'shop.example', '10 mail.gateway.example'],
    ]);
    const spf = (data: string) => ({ type: 'TXT', data }) as const;
    dns.records.set('bounce.shop.example', [spf('v=spf1 a mx ~all')]);
    expect(await verify()).toContain('return_path_spf mismatch');
    dns.records.set('bounce.shop.example', [spf(EMAIL_SPF)]);
    expect(await verify()).toEqual([
      'return_path missing',
      'return_path_spf found',
      'dmarc missing',
      'inbound missing',
    ]);
  });

  it('the return path is a CNAME record to EMAIL_RETURN_HOST where that is set, and inbound mail goes there, too', async () => {
    const { records, verify } = await recordsWith({ EMAIL_RETURN_HOST: 'return.gateway.example' });
    expect(shown(records)).toEqual([
      ['return_path', 'CNAME', 'bounce.shop.example', 'return.gateway.example'],
      ['dmarc', 'TXT', '_dmarc.shop.example', 'v=DMARC1; p=none'],
      ['inbound', 'MX', 'shop.example', '10 return.gateway.example'],
    ]);
    const cname = (data: string) => ({ type: 'CNAME', data }) as const;
    dns.records.set('bounce.shop.example', [cname('other.gateway.example')]);
    expect(await verify()).toContain('return_path mismatch');
    dns.records.set('bounce.shop.example', [cname('RETURN.gateway.example')]);
    expect(await verify()).toContain('return_path found');
  });
});

describe('RATE_LIMIT', () => {
  it('RATE_LIMIT limits the emails of an account, not its SMS and not other accounts, until the account has its own rate', async () => {
    const gateway = await new TestGateway({ RATE_LIMIT: '1/h' }).start();
    try {
      const own = gateway.running.demo as CreatedAccount;
      const send = async (path: string, token: string, body: object) => {
        const { body: sent } = await gateway.call('POST', path, { token, body });
        return String(sent['reference_id']);
      };
      const text = { from: 'hello@demo.test', subject: 'Hello', text: 'Hello' };
      const recipients = ['ada@example.com', 'bea@example.com', 'cy@example.com'];
      const id = await send(`${BASE}/messages`, own.apiKey, { ...text, recipients });
      const isSent = async (path: string, token: string, count: number) => {
        const { body } = await gateway.call('GET', path, { token });
        const { delivered } = body['counts'] as Record<string, number>;
        expect(delivered ?? 0).toBe(count);
      };
      const ofEmail = (count: number) => isSent(`${BASE}/messages/${id}`, own.apiKey, count);
      await eventually(() => ofEmail(1));
      const other = await gateway.account('other');
      for (const { apiToken } of [own, other]) {
        const sms = { from: 'ACME', to: ['2348012345678'], body: 'Hello' };
        const smsId = await send('/ng/v1/sendsms', apiToken, sms);
        await eventually(() => isSent(`/ng/v1/sms/${smsId}`, apiToken, 1));
      }
      await ofEmail(1);
      const rate = ['account', 'rate', '--account', own.accountId, '--rate', '1000/s', '--json'];
      const settings = { NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl };
      expect((await commandLine(rate, settings, process.cwd())).code).toBe(0);
      await eventually(() => ofEmail(3));
    } finally {
      await gateway.destroy();
    }
  });
});

describe('SMTP_TLS', () => {
  const processes = new Processes();
  let made: Awaited<ReturnType<typeof certificates>>;
  let server: ScriptedSmtp;

  beforeAll(async () => {
    await buildGateway();
    made = await certificates({
      good: { name: '127.0.0.1' },
      expired: { name: '127.0.0.1', isExpired: true },
      other: { name: 'other.example' },
    });
    await writeFile(join(await processes.directory(), 'ca.pem'), made.ca);
  });
  afterEach(() => server.close());
  afterAll(() => processes.destroy());

  /** A built gateway that trusts the authority of the certificates, with one accepted email. */
  async function sends(
    SMTP_TLS: string,
    certificate: 'good' | 'expired' | 'other' | 'none',
    hasAuth = false,
  ): Promise<void> {
    const tls = made.of[certificate];
    server = await ScriptedSmtp.start({ hasAuth, ...(tls && { tls }) });
    const { url, told } = await startedWith(SMTP_TLS);
    const [key = ''] = await told(/svk_\w+/);
    const answer = await fetch(`${url}${BASE}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        from: 'hello@demo.test',
        to: ['ada@example.org'],
        subject: 'Confidential',
        text: 'Confidential',
      }),
    });
    expect(answer.status).toBe(200);
  }

  let file = 0;
  async function startedWith(SMTP_TLS: string) {
    const gateway = await processes.gateway({
      DATABASE_URL: `sqlite:${++file}.sqlite`,
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: server.url,
      SMTP_TLS,
      NODE_EXTRA_CA_CERTS: join(await processes.directory(), 'ca.pem'),
    });
    return { url: gateway.url, told: (pattern: RegExp) => gateway.told(pattern) };
  }

  const accepted = () => server.accepted.map(({ isSecure }) => (isSecure ? 'TLS' : 'plain'));

  it.each([
    ['required', 'good', false],
    ['required', 'good', true],
  ] as const)('%s sends over TLS with a %s certificate (password: %p)', async (tls, of, auth) => {
    await sends(tls, of, auth);
    await eventually(async () => expect(accepted()).toEqual(['TLS']));
    expect(server.plain).not.toMatch(/AUTH|MAIL|Confidential/);
  });

  it.each([
    ['required', 'none'],
    ['required', 'expired'],
    ['required', 'other'],
    ['opportunistic', 'expired'],
  ] as const)('%s sends nothing with the certificate: %s', async (tls, of) => {
    await sends(tls, of);
    // The second connection shows that the gateway has given up the first one.
    await eventually(async () => expect(server.connections).toBeGreaterThan(1));
    expect(accepted()).toEqual([]);
    expect(server.plain).toMatch(/EHLO/);
    expect(server.plain).not.toMatch(/MAIL|Confidential/);
  });

  it.each([
    ['opportunistic', 'none'],
    ['off', 'good'],
  ] as const)('%s sends plain text with the certificate: %s', async (tls, of) => {
    await sends(tls, of);
    await eventually(async () => expect(accepted()).toEqual(['plain']));
    expect(server.plain).not.toContain('STARTTLS');
  });
});
