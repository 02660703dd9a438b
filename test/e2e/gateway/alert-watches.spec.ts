import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { type DataSource, IsNull } from 'typeorm';
import { Account } from '../../../src/accounts/accounts.tables.js';
import { AlertChannels } from '../../../src/alerts/alert-channels.js';
import { AlertEvaluation } from '../../../src/alerts/alert-evaluation.js';
import { AlertRules } from '../../../src/alerts/alert-rules.js';
import { AlertWatches } from '../../../src/alerts/alert-watches.js';
import { Alerts } from '../../../src/alerts/alerts.js';
import {
  ALERT_SECRETS,
  AlertChannelEntity,
  AlertEntity,
  AlertEvaluationEntity,
} from '../../../src/alerts/alerts.tables.js';
import { BillingAccount } from '../../../src/billing/ledger/ledger.tables.js';
import { DomainsService } from '../../../src/channels/email/domains/domains.service.js';
import { EmailDomain } from '../../../src/channels/email/domains/domains.tables.js';
import { Secrets } from '../../../src/secrets/secrets.js';
import { WebhookEndpointEntity } from '../../../src/webhooks/webhooks.tables.js';
import { certificates } from '../../support/certificates.js';
import { limitTests } from '../../support/time-limit.js';
import { TestGateway } from './test-gateway.js';

limitTests(120);

const HOUR = 3_600_000;
const nothing = () => Promise.resolve();

describe('what the rules of alerts find, and where they may be notified', () => {
  let directory: string;
  let server: Server;
  let gateway: TestGateway;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-alerts-'));
    const { of } = await certificates({
      expired: { name: 'localhost', isExpired: true },
      valid: { name: 'localhost' },
    });
    const file = join(directory, 'cert.pem');
    await writeFile(file, of['expired']!.cert);
    await writeFile(join(directory, 'key.pem'), of['expired']!.key);
    server = createServer({ ...of['expired']! });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    gateway = await new TestGateway({
      SMPP_TLS_CERT: file,
      SMPP_TLS_KEY: join(directory, 'key.pem'),
      PUBLIC_URL: `https://localhost:${port}`,
      // Rules are observed by the tests.
      ALERTS_EVERY: '1h',
    }).start();
  });
  afterAll(async () => {
    await gateway?.destroy();
    server?.close();
    await rm(directory, { recursive: true, force: true });
  });

  const part = <T>(type: abstract new (...given: never[]) => T): T =>
    gateway.running.app.get(type, { strict: false });
  const observed = async (id: string) => {
    const rule = await part(AlertRules).find(id);
    return (await part(AlertWatches).observe(rule))!;
  };

  it('certificates of the SMPP server and of the public address that end', async () => {
    const { findings, stays } = await observed('certificate_expiring');
    expect(findings).toMatchObject([
      { subject: 'SMPP_TLS_CERT', detail: expect.stringMatching(/ expired at \d{4}-/) },
      { subject: 'PUBLIC_URL', figures: { setting: 'PUBLIC_URL' }, page: 'health' },
    ]);
    // Where the server is away nothing says that the certificate was renewed.
    const alert = { subject: 'PUBLIC_URL', seenAt: new Date() };
    expect(stays?.(alert)).toBe(false);
    server.close();
    const away = await observed('certificate_expiring');
    expect(away.findings.map(({ subject }) => subject)).toEqual(['SMPP_TLS_CERT']);
    expect(away.stays?.(alert)).toBe(true);
  });

  it('a verified domain whose records are wrong, from two days before its end on', async () => {
    const { accountId } = await gateway.account();
    const { id } = await part(DomainsService).add(accountId, 'mail.example.com');
    const domains = gateway.running.app
      .get<DataSource>(getDataSourceToken(), { strict: false })
      .getRepository(EmailDomain);
    const wrongFor = (hours: number) =>
      domains.update(
        { id },
        {
          status: 'verified',
          verifiedName: 'mail.example.com',
          mismatchSince: new Date(Date.now() - hours * HOUR),
        },
      );
    await wrongFor(23);
    expect((await observed('domain_expiring')).findings).toEqual([]);
    await wrongFor(25);
    expect((await observed('domain_expiring')).findings).toMatchObject([
      { subject: 'mail.example.com', account: accountId, page: `email/domains/${id}` },
    ]);
  });

  it('no channel is inside the network, and none is an address without a relay', async () => {
    const channels = part(AlertChannels);
    for (const url of [
      'http://127.0.0.1/hook',
      'http://[::1]/hook',
      'http://169.254.169.254/latest/meta-data',
      'http://10.0.0.1/',
      'http://localhost/',
      'http://0x7f000001/',
      'ftp://example.com/',
      'https://user:pass@example.com/',
      'https://example.com:22/',
    ])
      for (const kind of ['slack', 'webhook'])
        await expect(channels.add(kind, url, nothing)).rejects.toMatchObject({
          code: 'invalid_field',
        });
    await expect(channels.add('email', 'ada@example.com', nothing)).rejects.toMatchObject({
      message: expect.stringContaining('ALERTS_SMTP'),
    });
    expect(await channels.list()).toEqual([]);
  });

  it('a wrong rule is refused with each wrong field, and changes nothing', async () => {
    const rules = part(AlertRules);
    const before = await rules.list();
    await expect(
      rules.change(
        'failures',
        { settings: { minimum: '0', nothing: '1' }, pause: '1s', channels: ['x'] },
        nothing,
      ),
    ).rejects.toMatchObject({
      details: [
        { path: 'settings.minimum' },
        { path: 'settings.nothing' },
        { path: 'pause' },
        { path: 'channels[0]' },
      ],
    });
    await expect(rules.add({ kind: 'nothing' }, nothing)).rejects.toMatchObject({
      details: [{ path: 'kind' }],
    });
    await expect(rules.find('rul_unknown')).rejects.toMatchObject({ code: 'not_found' });
    expect(await rules.list()).toEqual(before);
    await rules.change('failures', { settings: { minimum: '5' }, pause: '2h' }, nothing);
    expect(await rules.find('failures')).toMatchObject({
      pause: 2 * HOUR,
      settings: { minimum: '5', share: '20' },
    });
    await rules.remove('failures', nothing);
    expect(await rules.list()).toEqual(before);
  });

  describe('above 1,000 findings', () => {
    const source = () =>
      gateway.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
    const raised = () =>
      source().manager.findBy(AlertEntity, { kind: 'balance_low', resolvedAt: IsNull() });
    const nameOf = (n: number) => `acc_empty${String(n).padStart(6, '0')}`;
    /** Prepaid accounts without any money. */
    const empty = async (from: number, to: number) => {
      for (let first = from; first < to; first += 500) {
        const ids = Array.from({ length: Math.min(500, to - first) }, (_, n) => nameOf(first + n));
        const created = { name: 'empty', createdAt: new Date() };
        await source().manager.insert(
          Account,
          ids.map((id) => ({ id, ...created })),
        );
        await source().manager.insert(
          BillingAccount,
          ids.map((accountId) => ({ accountId, mode: 'prepaid' as const, currency: 'NGN' })),
        );
      }
    };
    beforeEach(async () => {
      const state = { id: 1, evaluatedAt: new Date(), quietUntil: new Date(0) };
      await source().manager.upsert(AlertEvaluationEntity, state, ['id']);
    });

    it('each account whose balance is low gets its alert, at most 50 in one transaction', async () => {
      await empty(0, 1_001);
      const put = jest.spyOn(part(Alerts), 'put');
      await part(AlertEvaluation).evaluate();
      const perTransaction = new Map<unknown, number>();
      for (const [manager] of put.mock.calls)
        perTransaction.set(manager, (perTransaction.get(manager) ?? 0) + 1);
      put.mockRestore();
      expect(Math.max(...perTransaction.values())).toBe(50);
      expect(await raised()).toHaveLength(1_001);
      await source().manager.update(
        BillingAccount,
        { accountId: nameOf(1_000) },
        { balance: '90000000' },
      );
      await part(AlertEvaluation).evaluate();
      expect(await raised()).toHaveLength(1_000);
    });

    it('what lies beyond the findings of one evaluation is not resolved', async () => {
      await source().manager.update(BillingAccount, { accountId: nameOf(1_000) }, { balance: '0' });
      await part(AlertEvaluation).evaluate();
      // Accounts with smaller ids come first.
      const first = await source().manager.findOneByOrFail(AlertEntity, {
        accountId: nameOf(1_000),
        resolvedAt: IsNull(),
      });
      await empty(1_001, 11_001);
      const beyond = { accountId: nameOf(11_000), id: first.id } as const;
      await source().manager.update(AlertEntity, { id: first.id }, { accountId: beyond.accountId });
      const put = jest.spyOn(part(Alerts), 'put').mockResolvedValue([]);
      await part(AlertEvaluation).evaluate();
      put.mockRestore();
      expect(await source().manager.findOneByOrFail(AlertEntity, { id: beyond.id })).toMatchObject({
        resolvedAt: null,
      });
      expect(await raised()).toHaveLength(1_001);
      await part(AlertRules).change('balance_low', { enabled: false }, nothing);
      await part(AlertEvaluation).evaluate();
      expect(await raised()).toEqual([]);
    });

    it('a rule of one account finds its webhook after those of all others', async () => {
      const { accountId } = await gateway.account('last');
      const webhook = (n: number, owner: string) => ({
        id: `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`,
        accountId: owner,
        slot: n,
        url: 'https://example.com/hook',
        secret: 'whsec_x',
        events: null,
        createdAt: 0,
        disabledAt: 1,
        disabledReason: 'gone' as const,
      });
      const others = Array.from({ length: 1_000 }, (_, n) => webhook(n, nameOf(0)));
      for (const half of [others.slice(0, 500), others.slice(500)])
        await source().manager.insert(WebhookEndpointEntity, half);
      await source().manager.insert(WebhookEndpointEntity, webhook(2_000, accountId));
      const { id } = await part(AlertRules).add({ kind: 'webhook_failing', accountId }, nothing);
      expect((await observed(id)).findings).toMatchObject([{ account: accountId }]);
      expect((await observed('webhook_failing')).findings).toHaveLength(1_001);
    });
  });

  it('a channel is not removed while a rule names it, and one that cannot be decrypted is shown with its remedy', async () => {
    const manager = gateway.running.app.get<DataSource>(getDataSourceToken(), {
      strict: false,
    }).manager;
    const channels = part(AlertChannels);
    const [id, other] = [
      '01900000-0000-7000-8000-0000000000a1',
      '01900000-0000-7000-8000-0000000000a2',
    ];
    for (const one of [id, other])
      await manager.insert(AlertChannelEntity, {
        id: one,
        kind: 'email',
        target:
          one === id
            ? part(Secrets).seal(ALERT_SECRETS.target, id, 'ada@example.com')
            : 'enc1.ffffffff.bm90IGEgc2VjcmV0',
        secret: 'whsec_x',
        createdAt: new Date(),
      });
    const rule = await part(AlertRules).add({ kind: 'failures', channels: [id] }, nothing);
    await expect(channels.remove(id, nothing)).rejects.toMatchObject({
      code: 'invalid_field',
      message: expect.stringContaining(rule.id),
    });
    expect(await channels.list()).toMatchObject([
      { id, target: 'ada@example.com', error: null },
      {
        id: other,
        target: 'unreadable',
        error: expect.stringMatching(/encrypted.*; set SECRETS_KEY.*or remove the channel/),
      },
    ]);
    await part(AlertRules).change(rule.id, { channels: null }, nothing);
    for (const one of [id, other]) await channels.remove(one, nothing);
    expect(await channels.list()).toEqual([]);
  });
});
