import { describe, expect, it } from '@jest/globals';
import { type ExecutionContext, Logger } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { readEnvironment } from '../config/environment.js';
import { AccountReads } from './account-reads.js';
import { Account, Credential, type CredentialKind } from './accounts.tables.js';
import { Auth, type AuthenticatedRequest, AuthGuard } from './auth.guard.js';
import { type CredentialUse, CredentialVerifier, fingerprint, newSecret } from './credentials.js';
import { RequestLimits } from './limits.js';

Logger.overrideLogger(false);

class Surface {
  @Auth('api_token', 'sms:send')
  sms(): void {}

  @Auth('api_key', 'whatsapp:send')
  whatsapp(): void {}

  @Auth('any', 'billing:read')
  balance(): void {}
}

/** A guard that knows one credential, and a call of it with the credential's secret. */
function world(kind: CredentialKind, change: Partial<Credential & Account> = {}) {
  const secret = newSecret(kind);
  const credential = {
    id: 'crd_1',
    accountId: 'acc_1',
    kind,
    scopes: kind === 'api_key' ? ['whatsapp:read'] : [],
    fingerprint: fingerprint(secret),
    revokedAt: null,
    expiresAt: null,
    replacedUntil: null,
    ...change,
  };
  const account = { id: 'acc_1', suspendedAt: null, ...change };
  const reads: unknown[] = [];
  const find = (entity: unknown) => {
    reads.push(entity);
    return Promise.resolve([entity === Account ? account : credential]);
  };
  const guard = new AuthGuard(
    new Reflector(),
    new CredentialVerifier({ manager: { find } } as unknown as DataSource),
    { note: () => undefined } as unknown as CredentialUse,
    new RequestLimits(readEnvironment({ REQUEST_LIMIT: 'off', AUTH_FAILURE_LIMIT: 'off' })),
    new AccountReads({ options: { type: 'better-sqlite3', database: ':memory:' } }),
  );
  return (handler: keyof Surface, presented = secret) => {
    const request = {
      headers: { authorization: `Bearer ${presented}` },
      routeOptions: {},
      account: null,
    } as unknown as AuthenticatedRequest;
    const context = {
      getHandler: () => Surface.prototype[handler],
      getClass: () => Surface,
      getArgByIndex: (index: number) => [request, {}][index],
    } as unknown as ExecutionContext;
    return { request, passed: guard.canActivate(context), reads };
  };
}

const refused = (status: number, code: string) => expect.objectContaining({ status, code });

describe('AuthGuard', () => {
  it('a credential is looked up once and then admitted with its account', async () => {
    const call = world('api_token');
    expect(await call('sms').passed).toBe(true);
    const { request, passed, reads } = call('sms');
    expect(await passed).toBe(true);
    expect(request.account?.accountId).toBe('acc_1');
    expect(reads).toEqual([Credential, Account]);
  });

  it('an unknown credential is refused', async () => {
    const { passed } = world('api_token')('sms', newSecret('api_token'));
    await expect(passed).rejects.toEqual(refused(401, 'unauthorized'));
  });

  it('a key is accepted only as a key and a token only as a token', async () => {
    const error = refused(401, 'unauthorized');
    await expect(world('api_key')('sms').passed).rejects.toEqual(error);
    await expect(world('api_token')('whatsapp').passed).rejects.toEqual(error);
  });

  it('a route for any credential takes a token, and a key with the scope', async () => {
    const token = world('api_token')('balance');
    expect(await token.passed).toBe(true);
    expect(token.request.account?.kind).toBe('api_token');
    const lacking = world('api_key')('balance').passed;
    await expect(lacking).rejects.toEqual(refused(403, 'insufficient_scope'));
    const key = world('api_key', { scopes: ['billing:read'] })('balance');
    expect(await key.passed).toBe(true);
    expect(key.request.account?.kind).toBe('api_key');
  });

  it('a token without scopes has all, and one with scopes needs that of the route', async () => {
    expect(await world('api_token')('sms').passed).toBe(true);
    expect(await world('api_token', { scopes: ['sms:send'] })('sms').passed).toBe(true);
    const reader = world('api_token', { scopes: ['sms:read'] });
    for (const route of ['sms', 'balance'] as const)
      await expect(reader(route).passed).rejects.toEqual(refused(403, 'insufficient_scope'));
  });

  it('an expired or revoked key is refused', async () => {
    const scopes = ['whatsapp:send'] as const;
    for (const change of [{ expiresAt: new Date() }, { revokedAt: new Date() }]) {
      const { passed } = world('api_key', { scopes, ...change })('whatsapp');
      await expect(passed).rejects.toEqual(refused(401, 'unauthorized'));
    }
    const expiresAt = new Date(Date.now() + 60_000);
    expect(await world('api_key', { scopes, expiresAt })('whatsapp').passed).toBe(true);
  });

  it('a key needs the scope and a suspended account is refused first', async () => {
    const call = world('api_key');
    await expect(call('whatsapp').passed).rejects.toEqual(refused(403, 'insufficient_scope'));
    await expect(call('whatsapp').passed).rejects.toEqual(refused(403, 'insufficient_scope'));
    const suspended = world('api_key', { suspendedAt: new Date() });
    await expect(suspended('whatsapp').passed).rejects.toEqual(refused(403, 'account_disabled'));
    expect(await world('api_key', { scopes: ['whatsapp:send'] })('whatsapp').passed).toBe(true);
  });
});
