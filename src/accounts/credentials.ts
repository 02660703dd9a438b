import { MessagingService } from '@dundun/messaging';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DataSource, In, IsNull, LessThan } from 'typeorm';
import { Account, Credential, type CredentialKind } from './accounts.tables.js';
import { FreshCache } from './fresh-cache.js';
import type { Scope } from './scope.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 in a byte: higher bytes would make the first digits more likely. */
const FAIR = 248;

/** `length` characters, each of the 62 equally likely (5.954 bits each). */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length)
    for (const byte of randomBytes(length - text.length + 8)) {
      if (byte >= FAIR || text.length === length) continue;
      text += ALPHABET[byte % 62];
    }
  return text;
}

/** A whole number in exactly `width` base62 digits. */
function base62(value: number, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / 62))
    text = ALPHABET[rest % 62] + text;
  return text;
}

const PREFIX: Readonly<Record<CredentialKind, string>> = { api_token: 'tok_', api_key: 'svk_' };
const FORM = /^(?:tok|svk)_[0-9A-Za-z]{49}$/;
const SIGNED = 47;

/** Characters of every secret. */
const SECRET_LENGTH = SIGNED + 6;

/**
 * A new secret: a prefix, 43 random base62 characters (256 bits), and their CRC-32 in 6 more, so that a
 * mistyped secret is refused without a database read.
 */
export function newSecret(kind: CredentialKind): string {
  const signed = PREFIX[kind] + randomBase62(43);
  return signed + base62(crc32(signed), 6);
}

/** Whether the text has the form of a secret and a correct checksum. */
export function isWellFormed(secret: string): boolean {
  return FORM.test(secret) && base62(crc32(secret.slice(0, SIGNED)), 6) === secret.slice(SIGNED);
}

/** The form in which a secret is stored and looked up: SHA-256 in hex. */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/**
 * Why a request has no valid credential. For the log only: the response is the same for every
 * cause.
 */
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

/** Reads `Authorization: Bearer <secret>`; rejects malformed secrets without a database read. */
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

/** The usual spelling, for the hot path. */
const SCHEME = 'Bearer ';

/** The account of a credential, and the credential's kind and scopes. */
export interface Principal {
  readonly credentialId: string;
  readonly accountId: string;
  readonly kind: CredentialKind;
  readonly scopes: readonly Scope[];
  readonly revoked: boolean;
  /** Epoch milliseconds; `null`: never. */
  readonly expiresAt: number | null;
  readonly suspended: boolean;
}

/**
 * Finds the account of a secret, without a database read for a cached credential. A revocation,
 * rotation or suspension takes effect at once in the process that wrote it, and within a second in
 * others.
 */
@Injectable()
export class CredentialVerifier {
  readonly #cache: FreshCache<Principal>;

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {
    this.#cache = new FreshCache({
      load: (fingerprints) => this.#load(fingerprints),
      keep: ({ revoked, suspended }) => !revoked && !suspended,
    });
  }

  /**
   * The account of the credential in an `Authorization` header, if it is cached; its form and
   * checksum are then correct. `undefined` may still be a valid credential: call {@link
   * presentedSecret} and {@link verify}.
   */
  known(header: string | string[] | undefined, kind: CredentialKind): Principal | undefined {
    if (typeof header !== 'string' || header.length !== SCHEME.length + SECRET_LENGTH)
      return undefined;
    if (!header.startsWith(SCHEME)) return undefined;
    const principal = this.#cache.peek(fingerprint(header.slice(SCHEME.length)));
    return principal?.kind === kind ? principal : undefined;
  }

  /** Synchronous if the credential is cached; `undefined`: it does not exist. */
  verify(secret: string): Principal | Promise<Principal | undefined> {
    const key = fingerprint(secret);
    return this.#cache.peek(key) ?? this.#cache.get(key);
  }

  /** Empties the cache after a write. */
  forget(): void {
    this.#cache.clear();
  }

  async #load(fingerprints: readonly string[]): Promise<Map<string, Principal>> {
    const credentials = await this.dataSource.manager.findBy(Credential, {
      fingerprint: In(fingerprints),
    });
    if (credentials.length === 0) return new Map();
    const accounts = await this.dataSource.manager.findBy(Account, {
      id: In([...new Set(credentials.map(({ accountId }) => accountId))]),
    });
    const suspended = new Set(accounts.filter((one) => one.suspendedAt).map(({ id }) => id));
    return new Map(
      credentials.map((credential) => [
        credential.fingerprint,
        {
          credentialId: credential.id,
          accountId: credential.accountId,
          kind: credential.kind,
          scopes: credential.scopes,
          revoked: credential.revokedAt !== null,
          expiresAt: credential.expiresAt?.getTime() ?? null,
          suspended: suspended.has(credential.accountId),
        },
      ]),
    );
  }
}

const WRITE_EVERY = 30_000;

/**
 * Tracks the last use of each credential: in memory on the hot path, written to the database twice
 * a minute.
 */
@Injectable()
export class CredentialUse implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger('Credentials');
  #used = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly messaging: MessagingService) {}

  note(credentialId: string): void {
    this.#used.set(credentialId, Date.now());
  }

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.write(), WRITE_EVERY).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  /** Never rejects: times that could not be written are written with the next ones. */
  async write(): Promise<void> {
    const used = this.#used;
    if (used.size === 0) return;
    this.#used = new Map();
    // Sorted, so that two processes lock the same rows in the same order.
    const ordered = [...used].toSorted(([a], [b]) => (a < b ? -1 : 1));
    try {
      await this.messaging.transaction(async (manager) => {
        for (const [id, time] of ordered) {
          const lastUsedAt = new Date(time);
          await manager.update(
            Credential,
            [
              { id, lastUsedAt: IsNull() },
              { id, lastUsedAt: LessThan(lastUsedAt) },
            ],
            { lastUsedAt },
          );
        }
      });
    } catch (error) {
      for (const [id, time] of used) if (!this.#used.has(id)) this.#used.set(id, time);
      this.#logger.warn({ message: 'last use of credentials not written', err: error });
    }
  }
}
