import { createHmac, getHashes, timingSafeEqual } from 'node:crypto';
import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackVerifier } from '../../ports/delivery-report-parser.js';
import { rawBodyOf } from './raw-body.js';
import { checkedSecrets, type Secrets } from './secret.js';

export interface HmacSignatureOptions {
  /** At least 16 characters; two during a rotation. */
  readonly secret: Secrets;
  /** Name of the header that carries the signature. */
  readonly header: string;
  /** @default 'sha256' */
  readonly algorithm?: string;
  /** @default 'hex' */
  readonly encoding?: 'hex' | 'base64' | 'base64url';
  /** What stands before the signature, such as `sha256=`. @default '' */
  readonly prefix?: string;
}

/**
 * A header with the HMAC of the bytes of the body. A GET is never proven: its query is not signed.
 * It proves who wrote the body, not when: add `ipRanges()` where a repeated body matters (reports may
 * be repeated; they change nothing).
 *
 * @example
 * hmacSignature({ header: 'X-Termii-Signature', algorithm: 'sha512', secret: process.env.TERMII_SECRET })
 * @throws MessagingConfigError naming the wrong option.
 */
export function hmacSignature(options: HmacSignatureOptions): CallbackVerifier {
  const { algorithm = 'sha256', encoding = 'hex', prefix = '' } = options;
  const secrets = checkedSecrets('hmacSignature.secret', options.secret);
  const header = options.header?.toLowerCase();
  if (!header || !/^[a-z0-9-]+$/.test(header))
    throw new MessagingConfigError('hmacSignature.header: must be the name of a header');
  if (!getHashes().includes(algorithm))
    throw new MessagingConfigError(
      `hmacSignature.algorithm: ${algorithm} is unknown here; such as sha256`,
    );
  if (!['hex', 'base64', 'base64url'].includes(encoding))
    throw new MessagingConfigError('hmacSignature.encoding: must be hex, base64 or base64url');
  return {
    verify: (request) => {
      const given = request.headers[header];
      if (request.method === 'GET' || typeof given !== 'string' || !given.startsWith(prefix))
        return false;
      const signature = Buffer.from(given.slice(prefix.length).trim(), encoding);
      const body = rawBodyOf(request);
      return secrets
        .map((secret) => createHmac(algorithm, secret).update(body).digest())
        .map((own) => own.length === signature.length && timingSafeEqual(own, signature))
        .includes(true);
    },
  };
}
