import { type EntityManager, type FindOptionsWhere, IsNull } from 'typeorm';
import { ApiError } from '../http/api-error.js';
import { Credential, type CredentialKind } from './accounts.tables.js';
import { endOfCredential, fingerprint, isOver, newSecret, randomBase62 } from './credentials.js';

type CredentialStatus = 'active' | 'expired' | 'revoked';

export async function insertCredential(
  manager: EntityManager,
  accountId: string,
  kind: CredentialKind,
  {
    name = null,
    scopes = [],
    expiresAt = null,
    spender = null,
  }: Partial<Pick<Credential, 'name' | 'scopes' | 'expiresAt' | 'spender'>> = {},
): Promise<{ id: string; secret: string }> {
  const secret = newSecret(kind);
  const id = `crd_${randomBase62(22)}`;
  await manager.insert(Credential, {
    id,
    accountId,
    kind,
    fingerprint: fingerprint(secret),
    lastFour: secret.slice(-4),
    scopes,
    createdAt: new Date(),
    expiresAt,
    name,
    spender,
  });
  return { id, secret };
}

/** Newest first. */
export async function activeTokens(
  manager: EntityManager,
  accountId: string,
  where: FindOptionsWhere<Credential> = {},
): Promise<Credential[]> {
  const found = await manager.find(Credential, {
    where: { ...where, accountId, kind: 'api_token', revokedAt: IsNull() },
    order: { createdAt: 'DESC', id: 'ASC' },
  });
  return found.filter((token) => !isOver(token));
}

export async function listed(manager: EntityManager, accountId: string, kind: CredentialKind) {
  const found = await manager.find(Credential, {
    where: { accountId, kind },
    order: { createdAt: 'DESC', id: 'ASC' },
  });
  return found.map(({ id, name, lastFour, scopes, revokedAt, ...times }) => {
    const { createdAt, lastUsedAt } = times;
    const expiresAt = endOfCredential(times);
    const status: CredentialStatus = revokedAt ? 'revoked' : isOver(times) ? 'expired' : 'active';
    return { keyId: id, name, lastFour, status, scopes, createdAt, expiresAt, lastUsedAt };
  });
}

export function unknownToken(id: string): ApiError {
  return new ApiError('not_found', `The account has no API token ${id.slice(0, 64)}`);
}
