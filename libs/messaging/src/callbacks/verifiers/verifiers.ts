import ipaddr from 'ipaddr.js';
import { getHashes } from 'node:crypto';
import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackRequest, CallbackVerifier } from '../../ports/callback-parser.js';
import { type Secrets, anySame, checkedSecrets, isSignedBy, rawBodyOf } from './secret.js';

export interface BasicAuthOptions {
  readonly username: string;
  /** At least 16 characters; two during a rotation. */
  readonly password: Secrets;
}

/**
 * HTTP Basic authentication (RFC 7617), as in `https://user:password@app.example.com/…`.
 * @throws MessagingConfigError naming the wrong option
 */
export function basicAuth({ username, password }: BasicAuthOptions): CallbackVerifier {
  if (typeof username !== 'string' || username === '' || username.includes(':'))
    throw new MessagingConfigError('basicAuth.username: must be a name without a colon');
  const expected = checkedSecrets('basicAuth.password', password).map((p) => `${username}:${p}`);
  return {
    verify: ({ headers: { authorization } }) => {
      if (typeof authorization !== 'string') return false;
      const given = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization)?.[1];
      return given !== undefined && anySame(Buffer.from(given, 'base64').toString(), expected);
    },
  };
}

export interface HmacSignatureOptions {
  /** At least 16 characters; two during a rotation. */
  readonly secret: Secrets;
  /** Name of the header that carries the signature. */
  readonly header: string;
  /** @default 'sha256' */
  readonly algorithm?: string;
  /** @default 'hex' */
  readonly encoding?: 'hex' | 'base64' | 'base64url';
  /** Text before the signature, such as `sha256=`. @default '' */
  readonly prefix?: string;
}

/**
 * Verifies a header with the HMAC of the body's bytes. A GET always fails, because its query is not signed. The HMAC
 * proves the author of the body but not its time: add `ipRanges()` where a repeated body matters. Repeated reports
 * change nothing.
 *
 * @example
 * hmacSignature({ header: 'X-Termii-Signature', algorithm: 'sha512', secret: process.env.TERMII_SECRET })
 * @throws MessagingConfigError naming the wrong option
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
      return isSignedBy(secrets, algorithm, rawBodyOf(request), [signature]);
    },
  };
}

/**
 * Verifies that the peer's address is in one of the ranges (`203.0.113.0/24`, `2001:db8::/32`, or one address). An
 * IPv4-mapped IPv6 address counts as IPv4. Behind a proxy, make the platform trust it (`trustProxy` on Fastify,
 * `app.set('trust proxy', …)` on Express); otherwise the peer is the proxy.
 *
 * @throws MessagingConfigError naming the range by its index
 */
export function ipRanges(ranges: readonly string[]): CallbackVerifier {
  if (ranges.length === 0) throw new MessagingConfigError('ipRanges: must name at least one range');
  const parsed = ranges.map((range, index) => {
    try {
      const [address, bits] = range.includes('/')
        ? ipaddr.parseCIDR(range)
        : [ipaddr.parse(range), undefined];
      return [address, bits ?? address.toByteArray().length * 8] as const;
    } catch {
      throw new MessagingConfigError(
        `ipRanges[${index}]: ${JSON.stringify(range)} is no range; write 203.0.113.0/24 or one address`,
      );
    }
  });
  return {
    verify: ({ ip }) => {
      if (!ipaddr.isValid(ip)) return false;
      const peer = ipaddr.process(ip);
      return parsed.some(
        ([address, bits]) => address.kind() === peer.kind() && peer.match(address, bits),
      );
    },
  };
}

export interface SharedSecretOptions {
  /** At least 16 characters; two during a rotation. */
  readonly secret: Secrets;
  /** Place of the secret: after the provider's name in the path, or in a named parameter or header. @default 'path' */
  readonly in?: 'path' | { readonly query: string } | { readonly header: string };
}

/**
 * Verifies a secret in the callback address: `…/delivery-reports/acme/{secret}`, for providers that cannot sign. It
 * is the weakest verifier, because access logs of servers and proxies show paths and queries. Combine it with {@link
 * ipRanges}.
 *
 * @example
 * sharedSecret({ secret: process.env.ACME_SECRET, in: { query: 'token' } })
 * @throws MessagingConfigError naming the wrong option
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

/**
 * Verifies a callback only where all verifiers accept it.
 * @example
 * allOf(ipRanges(['203.0.113.0/24']), sharedSecret({ secret }))
 */
export function allOf(...verifiers: readonly CallbackVerifier[]): CallbackVerifier {
  atLeastOne('allOf', verifiers);
  return {
    verify: async (request) => {
      for (const verifier of verifiers) if (!(await verifier.verify(request))) return false;
      return true;
    },
  };
}

/** Verifies a callback where one verifier accepts it, for a provider that changes its verification. */
export function anyOf(...verifiers: readonly CallbackVerifier[]): CallbackVerifier {
  atLeastOne('anyOf', verifiers);
  return {
    verify: async (request) => {
      for (const verifier of verifiers) if (await verifier.verify(request)) return true;
      return false;
    },
  };
}

/** `allOf()` without verifiers would accept every callback. */
function atLeastOne(name: string, verifiers: readonly CallbackVerifier[]): void {
  if (verifiers.length === 0)
    throw new MessagingConfigError(`${name}: needs at least one verifier`);
}
