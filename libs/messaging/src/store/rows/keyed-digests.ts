import { createHmac, hash, hkdfSync } from 'node:crypto';

/** Purposes keep digests of one value apart. */
type Purpose = 'address' | 'idempotency key' | 'fingerprint' | 'code';

/**
 * Keyed digests of values that the store recognises and must not reveal. A plain hash of a phone
 * number is found by trying all numbers; without the key nothing can be tried. Without a key, texts
 * that the caller chose are stored as given and fingerprints are plain hashes.
 */
export class KeyedDigests {
  /** The first makes new digests; the others are former ones. */
  readonly #keys: readonly Uint8Array[];
  /** Secret first field of hashes that need no purpose of their own; empty without a key. */
  readonly salt: string;

  constructor(secrets: readonly Uint8Array[] = []) {
    const derived = (info: string) =>
      secrets.map((secret) => new Uint8Array(hkdfSync('sha256', secret, '', info, 32)));
    this.#keys = derived('dundun digests');
    const [salt] = derived('dundun salt');
    this.salt = salt ? Buffer.from(salt).toString('hex') : '';
  }

  get enabled(): boolean {
    return this.#keys.length > 0;
  }

  /** By the present key, then by each former one. */
  ofAddress(tenant: string, address: string): string[] {
    return this.#keys.map((key) => digest(key, 'address', [tenant, address]));
  }

  /** One-time codes by their verification; empty without a key. */
  ofCode(id: string, code: string): string[] {
    return this.#keys.map((key) => digest(key, 'code', [id, code]));
  }

  /** As {@link ofAddress}; without a key the idempotency key itself. */
  ofIdempotencyKey(idempotencyKey: string): string[] {
    if (!this.enabled) return [idempotencyKey];
    return this.#keys.map((key) => digest(key, 'idempotency key', idempotencyKey));
  }

  /** As {@link ofIdempotencyKey}, in the same order. */
  fingerprints(asked: unknown): string[] {
    if (!this.enabled) return [hash('sha256', JSON.stringify(asked), 'hex')];
    return this.#keys.map((key) => digest(key, 'fingerprint', asked));
  }
}

function digest(key: Uint8Array, purpose: Purpose, value: unknown): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([purpose, value]))
    .digest('base64url');
}
