import { createHash, createPrivateKey, KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { keepNewest } from '../../message/keep-newest.js';
import { MessagingError } from '../../message/errors.js';
import type { ComposedEmail } from './email-template.js';
import type { HeaderField } from './header-fields.js';

/** A private key with the selector of its DNS record. */
export interface DkimKey {
  readonly selector: string;
  /** PEM (PKCS #8 or PKCS #1) or a key object: RSA of 2048 bits or more, or Ed25519. */
  readonly privateKey: string | KeyObject;
}

/** The domain that signs, and its keys: RSA first, for receivers that know no Ed25519. */
export interface DkimIdentity {
  readonly domain: string;
  readonly keys: readonly DkimKey[];
}

/** The identity for a domain of `From`; `undefined`: the message is refused, never sent unsigned. */
export type DkimIdentities = (
  fromDomain: string,
) => DkimIdentity | undefined | Promise<DkimIdentity | undefined>;

/** A signing key is missing or unusable; nothing was signed, and nothing is sent. */
export class DkimKeyError extends MessagingError {
  constructor(
    readonly domain: string,
    message: string,
  ) {
    super('dkim_key', `DKIM key of ${domain}: ${message}`);
  }
}

interface Signer {
  readonly algorithm: 'rsa-sha256' | 'ed25519-sha256';
  readonly selector: string;
  readonly key: KeyObject;
}

/** Signed twice as often as they occur, so that no further one can be added. */
const OVERSIGNED = ['from', 'to', 'subject', 'date'];
const SIGNED = new Set([
  ...OVERSIGNED,
  'cc',
  'reply-to',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'content-id',
  'in-reply-to',
  'references',
  'list-id',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'auto-submitted',
]);

const LABELS =
  /^(?=.{1,253}$)[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?)*$/i;
/** Largest number of keys from PEM that stay parsed. */
const MOST_KEYS = 1_000;

const signed = promisify(sign);

/**
 * Signs messages (RFC 6376, RFC 8463): relaxed/relaxed, the whole body. Keys are parsed once, and
 * signatures are made in the thread pool: parsing an RSA key costs twice as much as a signature.
 */
export class DkimSigner {
  readonly #parsed = new Map<string, KeyObject>();

  /** @throws DkimKeyError for an identity that is given at once and is not usable */
  constructor(private readonly identities: DkimIdentity | DkimIdentities) {
    if (typeof identities !== 'function') this.#signersOf(identities);
  }

  /**
   * @returns the signature fields, which go before the other fields
   * @throws DkimKeyError
   */
  async sign({ from, fields, bodyHash }: ComposedEmail, at: Date): Promise<HeaderField[]> {
    const fromDomain = from.slice(from.lastIndexOf('@') + 1);
    const identity =
      typeof this.identities === 'function' ? await this.identities(fromDomain) : this.identities;
    if (!identity) throw new DkimKeyError(fromDomain, 'there is none; add it to the option dkim');
    const own = this.#signersOf(identity);
    const { names, canonical } = signedFields(fields);
    return Promise.all(
      own.map(async ({ algorithm, selector, key }) => {
        const tags = [
          `v=1; a=${algorithm}; c=relaxed/relaxed; d=${identity.domain}; s=${selector}`,
          `t=${Math.floor(at.getTime() / 1_000)}; bh=${bodyHash().toString('base64')}`,
          `h=${folded(names.join(':'), ':')}`,
          'b=',
        ];
        const unsigned = `DKIM-Signature: ${tags.join(';\r\n ')}`;
        const data = Buffer.from(canonical + relaxed({ name: 'DKIM-Signature', lines: unsigned }));
        const signature =
          algorithm === 'rsa-sha256'
            ? await signed('sha256', data, key)
            : await signed(null, createHash('sha256').update(data).digest(), key);
        const lines = unsigned + folded(signature.toString('base64'));
        return { name: 'DKIM-Signature', lines };
      }),
    );
  }

  #signersOf({ domain, keys }: DkimIdentity): readonly Signer[] {
    if (!LABELS.test(domain)) throw new DkimKeyError('?', 'domain is no domain name');
    if (keys.length === 0) throw new DkimKeyError(domain, 'there is none; add one to keys');
    return keys.map(({ selector, privateKey }) => {
      if (!LABELS.test(selector)) throw new DkimKeyError(domain, 'selector is no domain name');
      return { selector, ...this.#keyOf(domain, privateKey) };
    });
  }

  #keyOf(domain: string, given: string | KeyObject): Pick<Signer, 'algorithm' | 'key'> {
    const key = given instanceof KeyObject ? given : this.#parse(domain, given);
    if (key.type !== 'private') throw new DkimKeyError(domain, 'is no private key');
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
    if (type === 'ed25519') return { algorithm: 'ed25519-sha256', key };
    if (type !== 'rsa') throw new DkimKeyError(domain, 'is neither RSA nor Ed25519');
    if ((details?.modulusLength ?? 0) < 2_048)
      throw new DkimKeyError(domain, 'has fewer than 2048 bits; make a longer one');
    return { algorithm: 'rsa-sha256', key };
  }

  #parse(domain: string, pem: string): KeyObject {
    const known = this.#parsed.get(pem);
    if (known) return known;
    let key: KeyObject;
    try {
      key = createPrivateKey(pem);
    } catch {
      throw new DkimKeyError(domain, 'cannot be read; write it as PEM, without a passphrase');
    }
    this.#parsed.set(pem, key);
    keepNewest(this.#parsed, MOST_KEYS);
    return key;
  }
}

/** The names for `h=`, with the oversigned ones once more, and the canonical fields. */
function signedFields(fields: readonly HeaderField[]): { names: string[]; canonical: string } {
  // A verifier takes several fields of one name from the bottom up.
  const covered = fields.filter(({ name }) => SIGNED.has(name.toLowerCase())).toReversed();
  const names = covered.map(({ name }) => name.toLowerCase());
  return {
    names: [...names, ...OVERSIGNED],
    canonical: covered.map((field) => `${relaxed(field)}\r\n`).join(''),
  };
}

/** The relaxed canonical form of a field (RFC 6376, 3.4.2). */
function relaxed({ name, lines }: HeaderField): string {
  const value = lines.slice(name.length + 1).replaceAll('\r\n', '');
  return `${name.toLowerCase()}:${value.replaceAll(/[ \t]+/g, ' ').trim()}`;
}

/** Lines of at most 70 characters, cut after `separator` where one is given. */
function folded(text: string, separator?: string): string {
  if (separator === undefined) return (text.match(/.{1,70}/g) ?? []).join('\r\n ');
  let line = '';
  const lines: string[] = [];
  for (const part of text.split(separator)) {
    if (line.length + part.length > 70) {
      lines.push(line);
      line = '';
    }
    line += part + separator;
  }
  return [...lines, line.slice(0, -separator.length)].join('\r\n ');
}
