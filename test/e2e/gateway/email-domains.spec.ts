import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createPublicKey } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { SigningKeys } from '../../../src/channels/email/domains/domain-keys.js';
import { SenderDomains } from '../../../src/channels/email/domains/sender-domains.js';
import { EmailDomain, EmailDomainKey } from '../../../src/channels/email/domains/domains.tables.js';
import { DnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { commandLine } from './command-line.js';
import { type Answered, TestGateway } from './test-gateway.js';

interface DnsRecordOfDomain {
  readonly purpose: string;
  readonly type: 'TXT' | 'CNAME' | 'MX';
  readonly name: string;
  readonly value: string;
  readonly required: boolean;
  readonly status: string;
  readonly found: string | null;
}

interface DomainAnswer {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly records: readonly DnsRecordOfDomain[];
}

const PATH = '/email/ng/v1/domains';
const HOUR = 3_600_000;

describe('the domains of an account', () => {
  let dns: DnsServer;
  let customer: Receiver;
  let gateway: TestGateway;
  let source: DataSource;
  let acme: CreatedAccount;
  let names = 0;

  beforeAll(async () => {
    dns = await DnsServer.start();
    customer = await Receiver.start();
    gateway = new TestGateway({
      EMAIL_DNS_SERVERS: dns.address,
      PUBLIC_URL: 'https://mail.gateway.example',
      SECRETS_KEY: Buffer.alloc(32, 3).toString('base64'),
      WEBHOOK_ALLOW_PRIVATE: 'true',
    });
    await gateway.start();
    source = gateway.running.app.get(DataSource, { strict: false });
    acme = await gateway.account();
    await hook(acme);
  });
  afterAll(async () => {
    await gateway.destroy();
    await customer.close();
    await dns.close();
  });
  beforeEach(() => {
    dns.records.clear();
    dns.failing.clear();
  });

  const call = (
    method: string,
    path = '',
    { as = acme, body }: { as?: CreatedAccount; body?: object } = {},
  ): Promise<Answered> =>
    gateway.call(method, PATH + path, { token: as.apiKey, ...(body && { body }) });
  const hook = (account: CreatedAccount) =>
    gateway.call('POST', '/email/ng/v1/webhooks', {
      token: account.apiKey,
      body: { url: customer.url },
    });
  const domainIn = ({ body }: Answered) => body as unknown as DomainAnswer;

  async function add(as = acme, name = `d${++names}.example.com`): Promise<DomainAnswer> {
    const added = await call('POST', '', { as, body: { name } });
    expect(added).toMatchObject({ status: 201, body: { name, status: 'pending' } });
    return domainIn(added);
  }

  const verify = async ({ id }: DomainAnswer, as = acme): Promise<DomainAnswer> => {
    const answer = await call('POST', `/${id}/verify`, { as });
    expect(answer.status).toBe(200);
    return domainIn(answer);
  };

  /** Publishes the gateway's records, TXT records in several pieces. */
  function publish(records: readonly DnsRecordOfDomain[]): void {
    for (const { type, name, value } of records) {
      const [preference, exchange = ''] = value.split(' ');
      const record =
        type === 'TXT'
          ? { type, data: value.match(/.{1,200}/g) ?? [] }
          : type === 'MX'
            ? { type, data: { preference: Number(preference), exchange } }
            : { type, data: value };
      dns.records.set(name, [...(dns.records.get(name) ?? []), record]);
    }
  }

  const required = ({ records }: DomainAnswer) => records.filter((record) => record.required);
  const statusOf = ({ records }: DomainAnswer, purpose: string) =>
    records.filter((record) => record.purpose === purpose).map(({ status }) => status);
  const events = (type: string) =>
    customer.received
      .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
      .filter((event) => event.type === type);

  it('a domain is verified once its required records are in DNS, and the account is told', async () => {
    const domain = await add();
    const { name } = domain;
    expect(domain.records.map(({ purpose, type, required: is }) => [purpose, type, is])).toEqual([
      ['dkim', 'TXT', true],
      ['dkim_ed25519', 'TXT', false],
      ['return_path', 'MX', true],
      ['return_path_spf', 'TXT', true],
      ['dmarc', 'TXT', false],
      ['inbound', 'MX', false],
    ]);
    const fields = domain.records.map((record) => Object.keys(record).join());
    expect(new Set(fields).size).toBe(1);
    expect(domain.records.slice(2).map((record) => [record.name, record.value])).toEqual([
      [`bounce.${name}`, '10 mail.gateway.example'],
      [`bounce.${name}`, 'v=spf1 a mx ~all'],
      [`_dmarc.${name}`, 'v=DMARC1; p=none'],
      [name, '10 mail.gateway.example'],
    ]);
    expect(await verify(domain)).toMatchObject({ status: 'pending' });
    publish(required(domain).slice(1));
    expect(await verify(domain)).toMatchObject({
      status: 'pending',
      records: [{ status: 'missing' }, {}, { status: 'found' }, { status: 'found' }, {}, {}],
    });
    publish(required(domain).slice(0, 1));
    const verified = await verify(domain);
    expect(verified).toMatchObject({ status: 'verified', verified_at: expect.any(String) });
    expect(statusOf(verified, 'dmarc')).toEqual(['missing']);
    await eventually(async () =>
      expect(events('email.domain_verified')).toMatchObject([
        { data: { domain_id: domain.id, name, status: 'verified', error_code: null } },
      ]),
    );
    expect((await call('GET', `/${domain.id}`)).body).toEqual(verified);
    expect((await call('GET', '?limit=1')).body).toMatchObject({ data: [{ id: domain.id }] });
  });

  it('a request without a body may have the content type that the interface requires', async () => {
    const { id } = await add();
    for (const action of ['verify', 'rotate'])
      expect(
        await gateway.call('POST', `${PATH}/${id}/${action}`, {
          token: acme.apiKey,
          raw: '',
          headers: { 'content-type': 'application/json' },
        }),
      ).toMatchObject({ status: 200, body: { id } });
  });

  it('a domain that is published later is verified without a request', async () => {
    const domain = await add();
    publish(domain.records);
    await source.manager.update(EmailDomain, { id: domain.id }, { checkDueAt: new Date() });
    await eventually(async () =>
      expect((await call('GET', `/${domain.id}`)).body).toMatchObject({ status: 'verified' }),
    );
  });

  it('two TXT records for one name are a mismatch, and another order of tags is accepted', async () => {
    const domain = await add();
    publish(domain.records);
    const [dkim] = domain.records as [DnsRecordOfDomain];
    const bounce = `bounce.${domain.name}`;
    const p = /p=(.*)/.exec(dkim.value)?.[1] ?? '';
    dns.records.set(dkim.name, [
      { type: 'TXT', data: ['v=DKIM1;p=', p.slice(0, 200), ` ${p.slice(200)}`, '; t=s'] },
    ]);
    dns.records.get(bounce)?.push({ type: 'TXT', data: 'v=spf1 -all' });
    const twice = await verify(domain);
    expect(twice).toMatchObject({ status: 'pending' });
    expect(statusOf(twice, 'dkim')).toEqual(['found']);
    expect(twice.records.find(({ purpose }) => purpose === 'return_path_spf')).toMatchObject({
      status: 'mismatch',
      found: 'v=spf1 a mx ~all, v=spf1 -all',
    });
    dns.records.get(bounce)?.pop();
    expect(await verify(domain)).toMatchObject({ status: 'verified' });
    dns.records.set(dkim.name, [{ type: 'TXT', data: 'v=DKIM1; k=rsa; p=' }]);
    expect(statusOf(await verify(domain), 'dkim')).toEqual(['mismatch']);
  });

  it('a failing name server never ends a verification, and a mismatch does after 72 hours', async () => {
    const domain = await add();
    publish(domain.records);
    expect(await verify(domain)).toMatchObject({ status: 'verified' });
    const age = (hours: number) =>
      source.manager.update(
        EmailDomain,
        { id: domain.id },
        { mismatchSince: new Date(Date.now() - hours * HOUR) },
      );
    for (const { name } of domain.records) dns.failing.add(name);
    const unreachable = await verify(domain);
    expect(unreachable).toMatchObject({ status: 'verified' });
    expect(statusOf(unreachable, 'dkim')).toEqual(['unreachable']);
    await age(100);
    expect(await verify(domain)).toMatchObject({ status: 'verified' });
    dns.failing.clear();
    expect(await verify(domain)).toMatchObject({ status: 'verified' });
    dns.records.clear();
    expect(await verify(domain)).toMatchObject({ status: 'verified' });
    await age(71);
    expect(await verify(domain)).toMatchObject({ status: 'verified' });
    await age(73);
    expect(await verify(domain)).toMatchObject({ status: 'failed', verified_at: null });
    await eventually(async () =>
      expect(events('email.domain_failed')).toMatchObject([
        { data: { name: domain.name, error_code: 'records_changed' } },
      ]),
    );
    publish(domain.records);
    expect(await verify(domain)).toMatchObject({ status: 'verified' });
  });

  it('a second account that verifies a name takes it over, and the first account is told', async () => {
    const name = 'shared.example.com';
    const other = await gateway.account('other');
    const [first, second] = [await add(acme, name), await add(other, name)];
    publish(first.records);
    expect(await verify(first)).toMatchObject({ status: 'verified' });
    // The records of the first account prove nothing for the second.
    expect(await verify(second, other)).toMatchObject({ status: 'pending' });
    publish(second.records.slice(0, 1));
    expect(await verify(second, other)).toMatchObject({ status: 'verified' });
    expect((await call('GET', `/${first.id}`)).body).toMatchObject({ status: 'failed' });
    await eventually(async () =>
      expect(events('email.domain_failed').map(({ data }) => data)).toContainEqual(
        expect.objectContaining({ domain_id: first.id, error_code: 'verified_elsewhere' }),
      ),
    );
    const keys = gateway.running.app.get(SigningKeys, { strict: false });
    const senders = gateway.running.app.get(SenderDomains, { strict: false });
    expect(await senders.isVerified(acme.accountId, name)).toBe(false);
    expect(await senders.isVerified(other.accountId, name)).toBe(true);
    const identity = await keys.identityOf(name);
    expect(identity?.keys.map(({ selector }) => selector)).toEqual([
      second.records[0]?.name.split('.')[0],
    ]);
  });

  it('a rotated domain signs with its old keys until the record of the new key is found', async () => {
    const domain = await add();
    const { id, name } = domain;
    publish(domain.records);
    await verify(domain);
    const keys = gateway.running.app.get(SigningKeys, { strict: false });
    const selectors = async () => {
      const identity = await keys.identityOf(name);
      return identity?.keys.map(({ selector }) => `${selector}._domainkey.${name}`) ?? [];
    };
    const dkimOf = ({ records }: DomainAnswer) =>
      records.filter(({ purpose }) => purpose.startsWith('dkim'));
    const old = dkimOf(domain).map((record) => record.name);
    expect(await selectors()).toEqual(old);
    const rotated = domainIn(await call('POST', `/${id}/rotate`));
    const fresh = dkimOf(rotated).slice(2);
    expect(dkimOf(rotated).map((record) => record.name)).toEqual([
      ...old,
      ...fresh.map((record) => record.name),
    ]);
    // A repeated request makes no further keys: the records may be on their way.
    expect(domainIn(await call('POST', `/${id}/rotate`))).toMatchObject({
      records: rotated.records.map((record) => ({ name: record.name })),
    });
    expect(await verify(domain)).toMatchObject({ status: 'verified' });
    expect(await selectors()).toEqual(old);
    publish(fresh);
    const switched = await verify(domain);
    expect(switched).toMatchObject({ status: 'verified' });
    expect(dkimOf(switched).map((one) => [one.name, one.required])).toEqual([
      [fresh[0]?.name, true],
      [fresh[1]?.name, false],
      [old[0], false],
      [old[1], false],
    ]);
    expect(await selectors()).toEqual(fresh.map((record) => record.name));
    const signing = (await keys.identityOf(name))?.keys[0]?.privateKey;
    const published = /p=(.*)/.exec(fresh[0]?.value ?? '')?.[1];
    expect(
      signing &&
        createPublicKey(signing).export({ type: 'spki', format: 'der' }).toString('base64'),
    ).toBe(published);
    const weekOld = new Date(Date.now() - 1_000);
    await source.manager.update(
      EmailDomainKey,
      { domainId: id, state: 'former' },
      { formerUntil: weekOld },
    );
    expect(dkimOf(await verify(domain))).toHaveLength(2);
  });

  it('names that no account can own are refused, and international domains become A-labels', async () => {
    const wrong = [
      '',
      'com',
      'co.uk',
      'github.io',
      'a b.example',
      '-a.example',
      'example.com.',
      '127.0.0.1',
      'a/b.example',
      `${'a'.repeat(60)}.`.repeat(3) + 'example',
      'localhost',
      'x_y.example',
    ];
    for (const name of wrong)
      expect([name, await call('POST', '', { body: { name } })]).toMatchObject([
        name,
        { status: 422, body: { error: { code: 'invalid_field', details: [{ path: 'name' }] } } },
      ]);
    const added = await call('POST', '', { body: { name: 'Bücher.Example' } });
    expect(added).toMatchObject({ status: 201, body: { name: 'xn--bcher-kva.example' } });
    const again = await call('POST', '', { body: { name: 'xn--bcher-kva.example' } });
    expect(again).toMatchObject({ status: 422, body: { error: { details: [{ path: 'name' }] } } });
    const { id } = domainIn(added);
    expect((await call('DELETE', `/${id}`)).status).toBe(204);
    expect((await call('GET', `/${id}`)).status).toBe(404);
    expect(await source.manager.countBy(EmailDomainKey, { domainId: id })).toBe(0);
  });

  it('private keys are stored encrypted', async () => {
    await add();
    const stored = await source.manager.find(EmailDomainKey);
    for (const { privateKey } of stored) expect(privateKey).toMatch(/^enc1\./);
  });

  it('the demo account has a verified domain without DNS', async () => {
    const { demo } = gateway.running;
    expect(demo).toBeDefined();
    const as = demo as CreatedAccount;
    const { body } = await call('GET', '', { as });
    const [domain] = body['data'] as [DomainAnswer];
    expect(domain).toMatchObject({ name: 'demo.test', status: 'verified' });
    dns.questions = 0;
    expect(await verify(domain, as)).toMatchObject({ status: 'verified' });
    expect(dns.questions).toBe(0);
  });

  it('the command line adds, verifies, lists and rotates domains', async () => {
    const settings = {
      DATABASE_URL: gateway.databaseUrl,
      NODE_ENV: 'test',
      EMAIL_DNS_SERVERS: dns.address,
      EMAIL_RETURN_HOST: 'return.gateway.example',
      SECRETS_KEY: Buffer.alloc(32, 3).toString('base64'),
    };
    const domain = async (...args: string[]): Promise<Record<string, unknown>> => {
      const all = ['domain', ...args, '--account', acme.accountId, '--json'];
      const { stdout, stderr } = await commandLine(all, settings, process.cwd());
      return JSON.parse(stdout || stderr) as Record<string, unknown>;
    };
    const name = 'cli.example.com';
    const added = (await domain('add', '--domain', name)) as unknown as DomainAnswer;
    expect(added.records[2]).toMatchObject({
      type: 'CNAME',
      name: `bounce.${name}`,
      value: 'return.gateway.example',
      required: true,
    });
    publish(added.records);
    expect(await domain('verify', '--domain', name)).toMatchObject({ status: 'verified' });
    const { domains } = (await domain('list')) as { domains: Record<string, unknown>[] };
    expect(domains.at(-1)).toMatchObject({ id: added.id, name, status: 'verified' });
    const { records } = await domain('rotate', '--domain', added.id);
    expect(records).toHaveLength(added.records.length + 2);
    expect(await domain('verify', '--domain', 'none.example.com')).toMatchObject({
      error: { code: 'not_found' },
    });
  });
});
