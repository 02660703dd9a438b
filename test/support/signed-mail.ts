import { generateKeyPairSync } from 'node:crypto';
import { dkimSign } from 'mailauth';
import type { DnsRecord } from './dns-server.js';

type SignOptions = NonNullable<Parameters<typeof dkimSign>[1]>;

/** A domain that signs its mail with DKIM, by another implementation than ours. */
export class SigningDomain {
  readonly #keys = {
    rsa: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
    ed25519: generateKeyPairSync('ed25519'),
  };

  constructor(readonly name: string) {}

  /** The records of its keys, by name. */
  get records(): [string, DnsRecord[]][] {
    const { rsa, ed25519 } = this.#keys;
    const spki = { type: 'spki', format: 'der' } as const;
    const published = {
      rsa: rsa.publicKey.export(spki),
      ed25519: ed25519.publicKey.export(spki).subarray(-32),
    };
    return Object.entries(published).map(([kind, key]) => [
      `${kind}._domainkey.${this.name}`,
      [{ type: 'TXT', data: pieces(`v=DKIM1; k=${kind}; p=${key.toString('base64')}`) }],
    ]);
  }

  async sign(
    mail: string,
    options: Partial<SignOptions> & { readonly key?: 'rsa' | 'ed25519' } = {},
  ): Promise<string> {
    const { key = 'rsa', headerList, expires, ...changes } = options;
    const privateKey = this.#keys[key].privateKey.export({ type: 'pkcs8', format: 'pem' });
    const { signatures, errors } = await dkimSign(mail, {
      canonicalization: 'relaxed/relaxed',
      // A signature time is given, as the signer else reads the clock twice and may sign another second than it writes.
      signTime: new Date(),
      ...(headerList && { headerList: headerList.join(':') }),
      ...(expires !== undefined && { expires }),
      signatureData: [
        {
          signingDomain: this.name,
          selector: key,
          privateKey,
          algorithm: `${key}-sha256`,
          ...changes,
        },
      ],
    } as unknown as SignOptions);
    if (errors.length > 0) throw new Error('not signed');
    return signatures + mail;
  }
}

/** A TXT record is made of texts of at most 255 octets. */
function pieces(text: string): readonly string[] {
  return text.match(/.{1,255}/g) ?? [];
}
