import { MessagingService } from '@dundun/messaging';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DataSource, In } from 'typeorm';
import { Account, Credential, type CredentialKind } from './accounts.tables.js';
import { type Fresh, RowCache, whenKnown } from './row-cache.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `length` characters, each of the 62 equally likely (5.954 bits each). */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(62)]).join('');
}

/** The CRC-32 of a text in 6 base62 digits. */
function checksum(text: string): string {
  let digits = '';
  for (let rest = crc32(text); digits.length < 6; rest = Math.floor(rest / 62))
    digits = ALPHABET[rest % 62] + digits;
  return digits;
}

export const PREFIX: Readonly<Record<CredentialKind, string>> = {
  api_token: 'tok_',
  api_key: 'svk_',
};

type Ends = Pick<Credential, 'expiresAt' | 'replacedUntil'>;

/** When a credential stops: at its expiry, or before it at the end of the overlap of a rotation; `null`: never. */
export function endOfCredential({ expiresAt, replacedUntil }: Ends): Date | null {
  if (!expiresAt || !replacedUntil) return expiresAt ?? replacedUntil;
  return expiresAt < replacedUntil ? expiresAt : replacedUntil;
}

export function isOver(credential: Ends): boolean {
  const end = endOfCredential(credential);
  return end !== null && end.getTime() <= Date.now();
}

/** 256 random bits and a checksum, so that a mistyped secret is refused without a database read. */
export function newSecret(kind: CredentialKind): string {
  const signed = PREFIX[kind] + randomBase62(43);
  return signed + checksum(signed);
}

export function isWellFormed(secret: string): boolean {
  const [, signed = '', sum] = /^((?:tok|svk)_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(secret) ?? [];
  return checksum(signed) === sum;
}

export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'hex');
}

export interface Principal extends Pick<Credential, 'id' | 'accountId' | 'kind' | 'scopes'> {
  readonly suspended: boolean;
  /** The name under which it spends; see {@link spenderOf}. */
  readonly spender: string;
}

/** The account of a send, and the part of it that spends: the options of the library's sends. */
export interface Spending {
  readonly tenant: string;
  readonly spender: string;
}

/** The token that an account was made with; budgets name it so, also after it is rotated. */
export const TOKEN_SPENDER = 'api_token';

/**
 * The name under which a credential spends: a key and a named token their id, a rotated one the id of the
 * first with its name, and the token of the account {@link TOKEN_SPENDER}.
 */
export function spenderOf({
  id,
  kind,
  name,
  spender,
}: Pick<Credential, 'id' | 'kind' | 'name' | 'spender'>): string {
  return kind === 'api_token' && name === null ? TOKEN_SPENDER : (spender ?? id);
}

export function spendingOf({ accountId, spender }: Principal): Spending {
  return { tenant: accountId, spender };
}

/** Kinds that a route takes; `any`: the API token and keys. */
export type WantedKind = CredentialKind | 'any';

/** Why a request has no valid credential, for the log: the response is the same for every cause. */
export interface Unauthorized {
  readonly cause: string;
  /** The credential that was valid once. */
  readonly former?: { readonly id: string; readonly accountId: string };
}

/**
 * A revocation, rotation or suspension takes effect at once in the process that wrote it, and
 * within a second in others.
 */
@Injectable()
export class CredentialVerifier {
  readonly #credentials: RowCache<Credential>;
  readonly #accounts: RowCache<Account>;

  constructor(@InjectDataSource() source: DataSource) {
    this.#credentials = new RowCache(source, Credential, ['fingerprint']);
    this.#accounts = new RowCache(source, Account, ['id']);
  }

  /** A malformed secret costs no database read. */
  verify(header: string | undefined, wantedKind: WantedKind): Fresh<Principal | Unauthorized> {
    if (!header) return { cause: 'missing header' };
    if (!/^bearer /i.test(header)) return { cause: 'missing Bearer' };
    const secret = header.slice('Bearer '.length);
    if (/\s/.test(secret) || secret === '') return { cause: 'white space' };
    const wanted = { fingerprint: fingerprint(secret) };
    const known = this.#credentials.known(wanted);
    if (!known && !isWellFormed(secret)) return { cause: 'malformed or bad checksum' };
    if (wantedKind !== 'any' && !secret.startsWith(PREFIX[wantedKind]))
      return { cause: 'wrong kind' };
    return whenKnown(known ?? this.#credentials.find(wanted), (found) => {
      if (!found) return { cause: 'unknown' };
      const { id, accountId, kind, name, scopes, revokedAt } = found;
      const former = { id, accountId };
      if (revokedAt)
        return { cause: kind === 'api_token' && name === null ? 'rotated' : 'revoked', former };
      if (isOver(found)) return { cause: 'expired', former };
      return whenKnown(this.#accounts.find({ id: accountId }), (owner) => {
        const suspended = Boolean(owner?.suspendedAt);
        return { id, accountId, kind, scopes, suspended, spender: spenderOf(found) };
      });
    });
  }

  forget(): void {
    this.#credentials.clear();
    this.#accounts.clear();
  }
}

const WRITE_EVERY = 60_000;

/** Keeps last uses in memory and writes them once a minute, with the time of the write. */
@Injectable()
export class CredentialUse implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger('Credentials');
  readonly #used = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly messaging: MessagingService) {}

  note(credentialId: string): void {
    this.#used.add(credentialId);
  }

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.write(), WRITE_EVERY).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  /** Never rejects: a failed write is repeated with the next one. */
  async write(): Promise<void> {
    // Sorted, so that two processes lock the same rows in the same order.
    const ids = [...this.#used].toSorted();
    this.#used.clear();
    if (ids.length === 0) return;
    try {
      await this.messaging.transaction((manager) =>
        manager.update(Credential, { id: In(ids) }, { lastUsedAt: new Date() }),
      );
    } catch (error) {
      for (const id of ids) this.#used.add(id);
      this.#logger.warn({ message: 'last use of credentials not written', err: error });
    }
  }
}
