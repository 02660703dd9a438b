import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { dirname } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { DataSource } from 'typeorm';
import { EnvironmentError } from '../../../src/config/environment.js';
import { commandLine } from '../../e2e/gateway/command-line.js';
import { TestGateway } from '../../e2e/gateway/test-gateway.js';
import { describeEachDatabase } from '../../support/databases.js';
import { filesWith } from '../../support/stored-text.js';
import { Receiver } from '../webhooks/receiver.js';

const OLD = Buffer.alloc(32, 1).toString('base64');
const NEW = Buffer.alloc(32, 2).toString('base64');
const ROWS = 'SELECT id, secret, previous_secrets AS previous FROM gateway_webhook_endpoint';

describeEachDatabase('the stored secrets of a gateway', (db) => {
  let customer: Receiver;
  let source: DataSource;
  let token: string;
  let gateway: TestGateway;
  let webhook: { id: string; first: string; second: string };

  beforeAll(async () => (customer = await Receiver.start()));
  afterAll(() => customer.close());

  /** A gateway without a key has stored a secret and its predecessor. */
  beforeEach(async () => {
    await start();
    source = await db.open();
    // The demo domain of the first start has a key.
    for (const table of ['gateway_webhook_endpoint', 'gateway_email_domain_key'])
      await source.query(`DELETE FROM ${table}`);
    token = (await gateway.account()).apiToken;
    const call = (path: string, body: object) =>
      gateway.call('POST', `/ng/v1/webhooks${path}`, { token, body });
    const { webhook_id: id, secret: first } = (await call('', { url: customer.url })).body;
    const { secret: second } = (await call(`/${String(id)}/rotate-secret`, {})).body;
    webhook = { id: String(id), first: String(first), second: String(second) };
    await gateway.stop();
  });
  afterEach(async () => {
    await gateway.destroy();
    for (const table of ['gateway_secrets_key', 'gateway_digest_key'])
      await source.query(`DELETE FROM ${table}`);
    await source.destroy();
  });

  async function start(settings: Record<string, string> = {}): Promise<void> {
    gateway = new TestGateway({
      DATABASE_URL: db.url,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ...settings,
    });
    await gateway.start();
  }

  async function stored(): Promise<readonly string[]> {
    const [row] = await source.query<{ secret: string; previous: string }[]>(ROWS);
    return [row?.secret ?? '', row?.previous ?? ''];
  }

  const filesHaving = (texts: readonly string[]) => filesWith(db, texts);

  /** The callback of one message verifies with both secrets. */
  async function expectSigned(): Promise<void> {
    const before = customer.received.length;
    const body = { from: 'ACME', to: ['2348012345678'], body: 'x', delivery_report: 'yes' };
    expect((await gateway.call('POST', '/ng/v1/sendsms', { token, body })).status).toBe(200);
    const got = (await customer.first(before + 2)).slice(before);
    for (const { body: sent, headers } of got)
      for (const secret of [webhook.first, webhook.second])
        expect(() => new Webhook(secret).verify(sent, headers)).not.toThrow();
  }

  it('without SECRETS_KEY secrets are stored in clear and one warning is logged', async () => {
    expect(await stored()).toEqual([webhook.second, webhook.first]);
    const warnings = gateway.log.filter((line) => line.includes('set SECRETS_KEY'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('"level":"warn"');
  });

  it('the first start with SECRETS_KEY encrypts what was stored in clear and purges it', async () => {
    const clear = [webhook.first, webhook.second].map((secret) => secret.slice('whsec_'.length));
    expect((await filesHaving(clear)).length > 0).toBe(db.kind === 'sqlite');
    await start({ SECRETS_KEY: OLD });
    expect(await filesHaving(clear)).toEqual([]);
    for (const text of await stored()) expect(text).toMatch(/^enc1\.[0-9a-f]{8}\.[\w-]{50,}$/);
    expect(await source.query('SELECT purge_due FROM gateway_secrets_key')).toEqual([
      { purge_due: 0 },
    ]);
    await expectSigned();
    await gateway.stop();
    expect(await filesHaving(clear)).toEqual([]);
  });

  it('a purge that a crash has cut off is made by the next start', async () => {
    await start({ SECRETS_KEY: OLD });
    await gateway.stop();
    const [sealed] = await stored();
    await source.query(`UPDATE gateway_webhook_endpoint SET secret = '${webhook.second}'`);
    await source.query(`UPDATE gateway_webhook_endpoint SET secret = '${sealed}'`);
    await source.query('UPDATE gateway_secrets_key SET purge_due = 1');
    await start({ SECRETS_KEY: OLD });
    expect(await filesHaving([webhook.second])).toEqual([]);
    expect(await source.query('SELECT purge_due FROM gateway_secrets_key')).toEqual([
      { purge_due: 0 },
    ]);
    expect((await stored())[0]).toBe(sealed);
  });

  it('a gateway with a wrong key or none refuses to start and names SECRETS_KEY', async () => {
    await start({ SECRETS_KEY: OLD });
    await gateway.stop();
    const before = await stored();
    for (const [settings, problem] of [
      [{}, 'SECRETS_KEY: is missing, and the secrets of this database are encrypted'],
      [{ SECRETS_KEY: NEW }, "SECRETS_KEY: is not the key of this database's secrets"],
    ] as const) {
      const refused = start(settings);
      await expect(refused).rejects.toThrow(EnvironmentError);
      await expect(refused).rejects.toThrow(problem);
    }
    expect(await stored()).toEqual(before);
    await start({ SECRETS_KEY: OLD });
  });

  it('a rotation beside a running gateway encrypts everything with the new key', async () => {
    await start({ SECRETS_KEY: OLD });
    const old = await stored();
    await gateway.stop();
    await start({ SECRETS_KEY: NEW, SECRETS_KEY_PREVIOUS: OLD });
    expect(await stored()).toEqual(old);
    await expectSigned();
    const rotate = () =>
      commandLine(
        ['secrets', 'rotate', '--json'],
        { DATABASE_URL: db.url, SECRETS_KEY: NEW, SECRETS_KEY_PREVIOUS: OLD },
        dirname(import.meta.filename),
      );
    const rotated = JSON.parse((await rotate()).stdout) as { key_id: string };
    expect(rotated).toMatchObject({ rewritten: 3, purged: true });
    const rewritten = await stored();
    for (const text of rewritten) expect(text).toMatch(`enc1.${rotated.key_id}.`);
    expect(await filesHaving(old)).toEqual([]);
    expect(JSON.parse((await rotate()).stdout)).toEqual({ ...rotated, rewritten: 0 });
    expect(await stored()).toEqual(rewritten);
    await expectSigned();
    await gateway.stop();
    await expect(start({ SECRETS_KEY: OLD })).rejects.toThrow('SECRETS_KEY: is not the key');
    await start({ SECRETS_KEY: NEW });
    await expectSigned();
  });

  it('a rotation without its former key changes nothing and names the variable', async () => {
    await start({ SECRETS_KEY: OLD });
    await gateway.stop();
    const before = await stored();
    for (const [settings, problem] of [
      [{ SECRETS_KEY: NEW }, 'SECRETS_KEY: is not the key'],
      [{}, 'SECRETS_KEY: is missing'],
    ] as const) {
      const { code, stderr } = await commandLine(
        ['secrets', 'rotate', '--json'],
        { DATABASE_URL: db.url, ...settings },
        dirname(import.meta.filename),
      );
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toMatchObject({
        error: { code: 'invalid_configuration', message: expect.stringContaining(problem) },
      });
    }
    expect(await stored()).toEqual(before);
  });
});
