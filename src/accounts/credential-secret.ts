import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62, randomBase62 } from './base62.js';

/** `api_token` opens SMS, voice and VAS; `api_key` opens email and WhatsApp, by scope. */
export type CredentialKind = 'api_token' | 'api_key';

const PREFIX: Readonly<Record<CredentialKind, string>> = { api_token: 'tok_', api_key: 'svk_' };
const FORM = /^(?:tok|svk)_[0-9A-Za-z]{49}$/;
const SIGNED = 47;

/** Characters of every secret. */
export const SECRET_LENGTH = SIGNED + 6;

/**
 * A new secret: prefix, 43 random base62 characters (256 bits), and the CRC-32 of all that in 6 more,
 * so that a mistyped one is refused without a look into the database.
 */
export function newSecret(kind: CredentialKind): string {
  const signed = PREFIX[kind] + randomBase62(43);
  return signed + base62(crc32(signed), 6);
}

/** Has the form of a secret and its checksum is right. */
export function isWellFormed(secret: string): boolean {
  return FORM.test(secret) && base62(crc32(secret.slice(0, SIGNED)), 6) === secret.slice(SIGNED);
}

/** What is stored and looked up: SHA-256 in hex. */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'hex');
}
