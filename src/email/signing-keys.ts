import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { DataSource } from 'typeorm';
import { RowCache } from '../accounts/row-cache.js';
import { Secrets } from '../secrets/secrets.js';
import { dkimRecord, recordKey } from './domain-records.js';
import { DKIM_KEYS, EmailDomain, EmailDomainKey } from './domains.tables.js';

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
