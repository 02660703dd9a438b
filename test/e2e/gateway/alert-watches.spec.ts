import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import type { DataSource } from 'typeorm';
import { AlertChannels } from '../../../src/alerts/alert-channels.js';
import { AlertRules } from '../../../src/alerts/alert-rules.js';
import { AlertWatches } from '../../../src/alerts/alert-watches.js';
import { DomainsService } from '../../../src/channels/email/domains/domains.service.js';
import { EmailDomain } from '../../../src/channels/email/domains/domains.tables.js';
import { certificates } from '../../support/certificates.js';
import { TestGateway } from './test-gateway.js';

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
});
