import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { ApiError } from '../http/api-error.js';
import { Secrets } from '../secrets/secrets.js';
import { DKIM_KEYS, EmailDomainKey, type KeyAlgorithm } from './domains.tables.js';

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
