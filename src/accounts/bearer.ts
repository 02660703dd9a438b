import { type CredentialKind, isWellFormed } from './credential-secret.js';

/** Why a request has no valid credential; for the log alone, the caller hears one answer for all. */
export type UnauthorizedCause =
  | 'missing header'
  | 'missing Bearer'
  | 'white space'
  | 'malformed or bad checksum'
  | 'wrong kind'
  | 'unknown'
  | 'rotated'
  | 'revoked'
  | 'expired';

export type Presented =
  | { readonly secret: string; readonly cause?: undefined }
  | { readonly secret?: undefined; readonly cause: UnauthorizedCause };

/** Reads `Authorization: Bearer <secret>`; what cannot be right is told apart without a database. */
export function presentedSecret(
  header: string | string[] | undefined,
  kind: CredentialKind,
): Presented {
  if (typeof header !== 'string' || header === '') return { cause: 'missing header' };
  if (!/^bearer /i.test(header)) return { cause: 'missing Bearer' };
  const secret = header.slice(7);
  if (/\s/.test(secret) || secret === '') return { cause: 'white space' };
  if (!isWellFormed(secret)) return { cause: 'malformed or bad checksum' };
  if (secret.startsWith('tok_') !== (kind === 'api_token')) return { cause: 'wrong kind' };
  return { secret };
}
