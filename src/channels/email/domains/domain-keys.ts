import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { createPrivateKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import { RowCache } from '../../../accounts/row-cache.js';
import { ApiError } from '../../../http/api-error.js';
import { Secrets } from '../../../secrets/secrets.js';
import { dkimRecord, recordKey } from './domain-records.js';
import { DKIM_KEYS, EmailDomain, EmailDomainKey, type KeyAlgorithm } from './domains.tables.js';

const generate = promisify(generateKeyPair);

/** Most requests that wait for new keys: one RSA key takes a thread for up to a second. */
const MOST_WAITING = 20;

const DER = { type: 'spki', format: 'der' } as const;
const PEM = { type: 'pkcs8', format: 'pem' } as const;

/** Bytes of an Ed25519 key at the end of its DER form; its record has these alone (RFC 8463). */
const ED25519_BYTES = 32;

/** DKIM keys of domains, made in the thread pool, one at a time. */
@Injectable()
export class DomainKeys {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly secrets: Secrets,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  /** An RSA key and an Ed25519 key, not yet stored. @throws ApiError 503 while many wait */
  async make(domainId: string, state: 'next' | 'current'): Promise<EmailDomainKey[]> {
    if (this.#waiting >= MOST_WAITING)
      throw new ApiError('unavailable', 'Many domains get keys at the moment; try again', {
        headers: { 'retry-after': '5' },
      });
    this.#waiting++;
    const made = this.#last.then(() => generate('rsa', { modulusLength: 2_048 }));
    this.#last = made.catch(() => undefined);
    try {
      const { publicKey, privateKey } = await made;
      const rsa = publicKey.export(DER);
      return [
        this.#row({ domainId, state }, 'rsa', rsa, privateKey),
        await this.makeEd25519(domainId, state),
      ];
    } finally {
      this.#waiting--;
    }
  }

  async makeEd25519(domainId: string, state: 'next' | 'current'): Promise<EmailDomainKey> {
    const { publicKey, privateKey } = await generate('ed25519');
    const raw = publicKey.export(DER).subarray(-ED25519_BYTES);
    return this.#row({ domainId, state }, 'ed25519', raw, privateKey);
  }

  #row(
    of: Pick<EmailDomainKey, 'domainId' | 'state'>,
    algorithm: KeyAlgorithm,
    publicKey: Buffer,
    privateKey: KeyObject,
  ): EmailDomainKey {
    const id = this.clock.id();
    const pem = privateKey.export(PEM) as string;
    return Object.assign(new EmailDomainKey(), of, {
      id,
      algorithm,
      selector: `dundun-${algorithm === 'rsa' ? 'r' : 'e'}-${randomBytes(4).toString('hex')}`,
      publicKey: publicKey.toString('base64'),
      privateKey: this.secrets.seal(DKIM_KEYS, id, pem),
      createdAt: new Date(this.clock.now()),
    });
  }
}

const MOST_PARSED = 1_000;

/** The keys that sign the mail of a domain, for the option `dkim` of `smtp()`. */
export interface SigningIdentity {
  readonly domain: string;
  readonly keys: readonly { readonly selector: string; readonly privateKey: KeyObject }[];
}

/** The keys that sign mail, read at most once a second. */
@Injectable()
export class SigningKeys {
  readonly #domains: RowCache<EmailDomain>;
  readonly #current: RowCache<EmailDomainKey>;
  readonly #parsed = new Map<string, KeyObject>();

  constructor(
    @InjectDataSource() source: DataSource,
    private readonly secrets: Secrets,
  ) {
    this.#domains = new RowCache(source, EmailDomain, ['verifiedName']);
    this.#current = new RowCache(source, EmailDomainKey, ['domainId', 'algorithm', 'state']);
  }

  /** `undefined`: no account has verified the domain. */
  async identityOf(name: string): Promise<SigningIdentity | undefined> {
    const domain = await this.#domains.find({ verifiedName: name });
    if (!domain) return undefined;
    const { id: domainId, checks } = domain;
    const rsa = await this.#current.find({ domainId, algorithm: 'rsa', state: 'current' });
    const ed25519 = await this.#current.find({ domainId, algorithm: 'ed25519', state: 'current' });
    // A signature whose record is missing fails.
    const isPublished = ed25519 && checks[recordKey(dkimRecord(name, ed25519))]?.status === 'found';
    const keys = [rsa, isPublished || !rsa ? ed25519 : undefined];
    return {
      domain: name,
      keys: keys.flatMap((key) =>
        key ? [{ selector: key.selector, privateKey: this.#privateKey(key) }] : [],
      ),
    };
  }

  /** Empties the caches, after a change of a domain in this process. */
  forget(): void {
    this.#domains.clear();
    this.#current.clear();
  }

  /** Parses once: that takes twice as long as a signature. */
  #privateKey({ id, privateKey }: EmailDomainKey): KeyObject {
    const known = this.#parsed.get(id);
    if (known) return known;
    const key = createPrivateKey(this.secrets.open(DKIM_KEYS, id, privateKey));
    this.#parsed.set(id, key);
    const [oldest] = this.#parsed.keys();
    if (oldest !== undefined && this.#parsed.size > MOST_PARSED) this.#parsed.delete(oldest);
    return key;
  }
}
