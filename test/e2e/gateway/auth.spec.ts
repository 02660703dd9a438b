import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { Credential } from '../../../src/accounts/accounts.tables.js';
import { CredentialUse, newSecret } from '../../../src/accounts/credentials.js';
import { eventually } from '../../support/eventually.js';
import { StatementLog } from '../../support/statement-log.js';
import { type Answered, TestGateway } from './test-gateway.js';

const PATH = '/ng/v1/sms';
const SEND = '/ng/v1/sendsms';

describe('a credential at the gateway', () => {
  const gateway = new TestGateway();
  const statements = new StatementLog();
  const reads = (table: string) =>
    statements.matching(new RegExp(`FROM "gateway_(${table})"`)).length;
  let account: CreatedAccount;

  beforeAll(async () => {
    await gateway.start();
    gateway.running.app.get(DataSource, { strict: false }).logger = statements;
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const get = (headers: Record<string, string>): Promise<Answered> =>
    gateway.call('GET', PATH, { headers });
  const withToken = (token: string): Promise<Answered> => gateway.call('GET', PATH, { token });

  it('a valid credential is accepted at the routes it is for', async () => {
    expect((await withToken(account.apiToken)).status).toBe(200);
    expect((await get({ authorization: `bearer ${account.apiToken}` })).status).toBe(200);
  });

  it('a credential in use is refused at all other routes', async () => {
    const whatsApp = '/whatsapp/ng/v1/templates';
    expect((await withToken(account.apiToken)).status).toBe(200);
    expect((await gateway.call('GET', whatsApp, { token: account.apiKey })).status).toBe(200);
    expect((await withToken(account.apiKey)).status).toBe(401);
    expect((await gateway.call('GET', whatsApp, { token: account.apiToken })).status).toBe(401);
  });

  it('a credential in use costs no database read per request', async () => {
    statements.clear();
    const began = performance.now();
    for (let n = 0; n < 300 || reads('credential') === 0; n++)
      expect((await withToken(account.apiToken)).status).toBe(200);
    // Once to know it and once in 0.4 s to renew it: credential and account.
    const renewals = Math.ceil((performance.now() - began) / 400);
    expect(reads('credential|account')).toBeLessThanOrEqual(2 * (1 + renewals));
  });

  it('every wrong credential gets the same 401 and only the log names the cause', async () => {
    const { apiToken, apiKey } = account;
    const rotated = await gateway.account('rotated');
    await gateway.accounts.rotateToken(rotated.accountId);
    const wrong: [string, Record<string, string>][] = [
      ['missing header', {}],
      ['missing Bearer', { authorization: apiToken }],
      ['missing Bearer', { authorization: `Token ${apiToken}` }],
      ['white space', { authorization: `Bearer  ${apiToken}` }],
      ['white space', { authorization: `Bearer ${apiToken.slice(0, 9)} ${apiToken.slice(9)}` }],
      ['malformed or bad checksum', { authorization: `Bearer ${apiToken.slice(0, -1)}` }],
      ['malformed or bad checksum', { authorization: `Bearer ${apiToken.slice(0, -1)}!` }],
      ['wrong kind', { authorization: `Bearer ${apiKey}` }],
      ['unknown', { authorization: `Bearer ${newSecret('api_token')}` }],
      ['rotated', { authorization: `Bearer ${rotated.apiToken}` }],
    ];
    const answers: Answered[] = [];
    const logged = gateway.log.length;
    for (const [, headers] of wrong) answers.push(await get(headers));
    const bodies = new Set(answers.map(({ body }) => JSON.stringify(body)));
    expect([...bodies].map((body) => JSON.parse(body) as unknown)).toEqual([
      {
        error: { type: 'authentication_error', code: 'unauthorized', message: expect.any(String) },
      },
    ]);
    for (const { status, headers } of answers)
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const lines = gateway.log
      .slice(logged)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'unauthorized');
    expect(lines.map(({ cause }) => cause)).toEqual(wrong.map(([cause]) => cause));
    expect(gateway.log.join('')).not.toMatch(/tok_[0-9A-Za-z]|svk_[0-9A-Za-z]/);
  });

  it('a credential with a wrong checksum costs no database read', async () => {
    statements.clear();
    const mistyped = newSecret('api_token').replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect((await withToken(mistyped)).status).toBe(401);
    expect(reads('credential')).toBe(0);
    expect((await withToken(newSecret('api_token'))).status).toBe(401);
    expect(reads('credential')).toBe(1);
  });

  it('after a rotation the old token is refused and the new one accepted at once', async () => {
    const one = await gateway.account('rotating');
    expect((await withToken(one.apiToken)).status).toBe(200);
    const fresh = await gateway.accounts.rotateToken(one.accountId);
    expect((await withToken(one.apiToken)).status).toBe(401);
    expect((await withToken(fresh)).status).toBe(200);
  });

  it('a suspended account gets 403 account_disabled until it is resumed', async () => {
    const one = await gateway.account('suspended');
    expect((await withToken(one.apiToken)).status).toBe(200);
    await gateway.accounts.suspend(one.accountId);
    expect(await withToken(one.apiToken)).toMatchObject({
      status: 403,
      body: { error: { type: 'permission_error', code: 'account_disabled' } },
    });
    await gateway.accounts.resume(one.accountId);
    expect((await withToken(one.apiToken)).status).toBe(200);
  });

  it('a wrong credential of a suspended account gets the ordinary 401', async () => {
    const one = await gateway.account('quiet');
    await gateway.accounts.suspend(one.accountId);
    const mistyped = one.apiToken.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect((await withToken(mistyped)).status).toBe(401);
  });

  it('the list of keys shows expiry and status and no secret', async () => {
    const one = await gateway.account('expiring');
    const soon = new Date(Date.now() + 3_600_000);
    const { keyId } = await gateway.accounts.createKey(one.accountId, ['whatsapp:read'], soon);
    await expect(
      gateway.accounts.createKey(one.accountId, ['whatsapp:read'], new Date(0)),
    ).rejects.toMatchObject({ code: 'invalid_field' });
    const keys = await gateway.accounts.keys(one.accountId);
    expect(keys).toHaveLength(2);
    expect(keys.find((key) => key.keyId === keyId)).toMatchObject({
      status: 'active',
      scopes: ['whatsapp:read'],
      expiresAt: soon,
      lastUsedAt: null,
    });
    const other = await gateway.account('other');
    await expect(gateway.accounts.revokeKey(other.accountId, keyId)).rejects.toMatchObject({
      code: 'not_found',
    });
    await gateway.accounts.revokeKey(one.accountId, keyId);
    const [, revoked] = (await gateway.accounts.keys(one.accountId)).toSorted((a, b) =>
      a.status < b.status ? -1 : 1,
    );
    expect(revoked).toMatchObject({ keyId, status: 'revoked' });
    expect(JSON.stringify(keys)).not.toMatch(/svk_|[0-9a-f]{64}/);
  });

  it("the time of a key's last use is recorded", async () => {
    const one = await gateway.account('used');
    const source = gateway.running.app.get(DataSource, { strict: false });
    const lastUse = async (): Promise<Date | null> => {
      await gateway.running.app.get(CredentialUse, { strict: false }).write();
      const found = await source.manager.findOneByOrFail(Credential, {
        accountId: one.accountId,
        kind: 'api_token',
      });
      return found.lastUsedAt;
    };
    expect(await lastUse()).toBeNull();
    const before = Date.now();
    expect((await withToken(one.apiToken)).status).toBe(200);
    const first = await lastUse();
    expect(first?.getTime()).toBeGreaterThanOrEqual(before);
    expect(await lastUse()).toEqual(first);
  });

  it('a credential rotated or suspended by another process is refused within a second', async () => {
    const other = new TestGateway({ DATABASE_URL: gateway.databaseUrl });
    await other.start();
    try {
      const one = await gateway.account('elsewhere');
      expect((await withToken(one.apiToken)).status).toBe(200);
      const fresh = await other.accounts.rotateToken(one.accountId);
      expect((await withToken(fresh)).status).toBe(200);
      await eventually(async () => {
        expect((await withToken(one.apiToken)).status).toBe(401);
      });
    } finally {
      await other.destroy();
    }
  });
});

describe('guesses at credentials', () => {
  const gateway = new TestGateway({ AUTH_FAILURE_LIMIT: '5/h' });
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  it('failed credentials of one address are answered 429 above the limit while a valid one passes', async () => {
    const { apiToken } = await gateway.account();
    const statuses: number[] = [];
    let last: Answered | undefined;
    for (let guess = 0; guess < 8; guess++) {
      last = await gateway.call('GET', PATH, { token: newSecret('api_token') });
      statuses.push(last.status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    expect(last?.body).toMatchObject({ error: { type: 'rate_limit_error', code: 'rate_limited' } });
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(3_000);
    expect((await gateway.call('GET', PATH, { token: apiToken })).status).toBe(200);
    expect(gateway.log.filter((line) => line.includes('"unauthorized"'))).toHaveLength(6);
  });
});

describe('requests with one credential', () => {
  const gateway = new TestGateway({ REQUEST_LIMIT: '3/h' });
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  it('requests of all routes are counted in the RateLimit headers and answered 429 above the limit', async () => {
    const one = await gateway.account('one');
    const two = await gateway.account('two');
    const answers: Answered[] = [];
    for (let n = 0; n < 4; n++)
      answers.push(await gateway.call('GET', PATH, { token: one.apiToken }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get('ratelimit-policy'))).toEqual(
      answers.map(() => '"credential";q=3;w=3600'),
    );
    expect(answers.map(({ headers }) => headers.get('ratelimit')?.split(';t=')[0])).toEqual(
      [2, 1, 0, 0].map((left) => `"credential";r=${left}`),
    );
    expect(answers[3]?.body).toMatchObject({ error: { code: 'rate_limited' } });
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(3_000);
    expect((await gateway.call('GET', PATH, { token: two.apiToken })).status).toBe(200);
    const paths = [SEND, '/ng/v1/webhooks', PATH, '/ng/v1/webhooks'];
    const three = await gateway.account('three');
    const statuses: number[] = [];
    for (const path of paths) {
      const method = path === SEND ? 'POST' : 'GET';
      const body = { from: 'ACME', to: ['2348012345678'], body: 'Hello' };
      const call = { token: three.apiToken, ...(path === SEND && { body }) };
      statuses.push((await gateway.call(method, path, call)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});
