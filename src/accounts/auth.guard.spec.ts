import { describe, expect, it } from '@jest/globals';
import { type ExecutionContext, Logger } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { readEnvironment } from '../config/environment.js';
import { ApiError } from '../http/api-error.js';
import {
  type CredentialUse,
  type CredentialVerifier,
  newSecret,
  type Principal,
} from './credentials.js';
import { Auth, type AuthenticatedRequest, AuthGuard } from './auth.guard.js';
import { FailedAttempts, RequestLimit } from './limits.js';

Logger.overrideLogger(false);

class Surface {
  @Auth('api_token')
  sms(): void {}

  @Auth('api_key', 'whatsapp:send')
  whatsapp(): void {}
}

const PRINCIPAL: Principal = {
  credentialId: 'crd_1',
  accountId: 'acc_1',
  kind: 'api_key',
  scopes: ['whatsapp:read'],
  revoked: false,
  expiresAt: null,
  suspended: false,
};

function admit(
  handler: keyof Surface,
  secret: string,
  found: ReturnType<CredentialVerifier['verify']>,
): { request: AuthenticatedRequest; passed: true | Promise<true> } {
  const request = {
    headers: { authorization: `Bearer ${secret}` },
    routeOptions: {},
    account: null,
  } as unknown as AuthenticatedRequest;
  const context = {
    getHandler: () => Surface.prototype[handler],
    getArgByIndex: (index: number) => [request, {}][index],
  } as unknown as ExecutionContext;
  const verifier = {
    known: () => undefined,
    verify: () => found,
  } as unknown as CredentialVerifier;
  const environment = readEnvironment({ REQUEST_LIMIT: 'off', AUTH_FAILURE_LIMIT: 'off' });
  const guard = new AuthGuard(
    new Reflector(),
    verifier,
    new FailedAttempts(environment),
    new RequestLimit(environment),
    { note: () => undefined } as unknown as CredentialUse,
  );
  return { request, passed: guard.canActivate(context) };
}

describe('AuthGuard', () => {
  const token = newSecret('api_token');
  const key = newSecret('api_key');

  it('a cached credential is admitted synchronously with its account', () => {
    const { request, passed } = admit('sms', token, { ...PRINCIPAL, kind: 'api_token' });
    expect(passed).toBe(true);
    expect(request.account?.accountId).toBe('acc_1');
  });

  it('an uncached credential is looked up', async () => {
    expect(await admit('sms', token, Promise.resolve(PRINCIPAL)).passed).toBe(true);
    await expect(admit('sms', token, Promise.resolve(undefined)).passed).rejects.toMatchObject({
      status: 401,
    });
  });

  it('a key is accepted only as a key and a token only as a token', () => {
    expect(() => admit('sms', key, PRINCIPAL)).toThrow(ApiError);
    expect(() => admit('whatsapp', token, PRINCIPAL)).toThrow(ApiError);
  });

  it('an expired key is refused', () => {
    const expired = { ...PRINCIPAL, scopes: ['whatsapp:send'] as const, expiresAt: Date.now() };
    expect(() => admit('whatsapp', key, expired)).toThrow(expect.objectContaining({ status: 401 }));
    const later = { ...expired, expiresAt: Date.now() + 60_000 };
    expect(admit('whatsapp', key, later).passed).toBe(true);
  });

  it('a key needs the scope and a suspended account is refused first', () => {
    expect(() => admit('whatsapp', key, PRINCIPAL)).toThrow(
      expect.objectContaining({ status: 403, code: 'insufficient_scope' }),
    );
    expect(() => admit('whatsapp', key, { ...PRINCIPAL, suspended: true })).toThrow(
      expect.objectContaining({ status: 403, code: 'account_disabled' }),
    );
    const scopes = ['whatsapp:send'] as const;
    expect(admit('whatsapp', key, { ...PRINCIPAL, scopes }).passed).toBe(true);
  });
});
