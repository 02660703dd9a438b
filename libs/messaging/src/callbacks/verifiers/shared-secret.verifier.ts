import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackRequest, CallbackVerifier } from '../../ports/delivery-report-parser.js';
import { anySame, checkedSecrets, type Secrets } from './secret.js';

export interface SharedSecretOptions {
  /** At least 16 characters; two during a rotation. */
  readonly secret: Secrets;
  /** Where it is: behind the provider's name in the path, or in a named parameter or header. @default 'path' */
  readonly in?: 'path' | { readonly query: string } | { readonly header: string };
}

/**
 * A secret in the address the provider was given: `…/delivery-reports/acme/{secret}`. For providers
 * that cannot sign; access logs of servers and proxies will show a path or query, so it is the weakest
 * of the proofs. Better together with {@link ipRanges}.
 *
 * @example
 * sharedSecret({ secret: process.env.ACME_SECRET, in: { query: 'token' } })
 * @throws MessagingConfigError naming the wrong option.
 */
export function sharedSecret(options: SharedSecretOptions): CallbackVerifier {
  const secrets = checkedSecrets('sharedSecret.secret', options.secret);
  const given = whereItIs(options.in ?? 'path');
  return {
    verify: (request) => {
      const secret = given(request);
      return typeof secret === 'string' && anySame(secret, secrets);
    },
  };
}

function whereItIs(
  place: NonNullable<SharedSecretOptions['in']>,
): (request: CallbackRequest) => unknown {
  if (place === 'path') return ({ pathSecret }) => pathSecret;
  if (typeof place === 'object' && 'query' in place && place.query) {
    const { query: name } = place;
    return ({ query }) => (Object.hasOwn(query, name) ? query[name] : undefined);
  }
  if (typeof place === 'object' && 'header' in place && place.header) {
    const name = place.header.toLowerCase();
    return ({ headers }) => headers[name];
  }
  throw new MessagingConfigError(
    "sharedSecret.in: must be 'path', { query: 'name' } or { header: 'name' }",
  );
}
