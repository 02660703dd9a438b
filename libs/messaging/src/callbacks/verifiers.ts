import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { MessagingConfigError } from '../message/errors.js';
import type { CallbackRequest, CallbackVerifier } from '../ports/callback-parser.js';
import { bodyTypeOf, requireBodyType } from './callback-body.js';
import {
  group,
  oneOf,
  type OptionReader,
  type ReadersOf,
  text,
  textLike,
  withDefault,
} from '../ports/option-schema.js';

/** One secret, or two during a rotation. */
export type Secrets = string | readonly string[];

const MIN_LENGTH = 16;
const THREE_DAYS = 259_200_000;

/** Checks secrets for common deployment mistakes; the error names the option, never the secret. */
export const readSecrets: OptionReader<readonly string[], Secrets> = (option, given) => {
  const secrets = given === undefined ? [] : [given].flat();
  const reject = (cause: string): never => {
    throw new MessagingConfigError(`${option}: ${cause}`);
  };
  if (secrets.length === 0) reject('is missing; pass the secret you share with the provider');
  return secrets.map((secret) => {
    if (typeof secret !== 'string' || secret === '') return reject('is empty');
    if (/\s/.test(secret)) reject('white space or a newline was copied with it');
    if (secret.length < MIN_LENGTH)
      reject(`is shorter than ${MIN_LENGTH} characters and can be guessed`);
    return secret;
  });
};

/** Compares every candidate in constant time, so that the duration does not reveal the match. */
export function anySame(given: string, expected: readonly string[]): boolean {
  return expected.map((one) => timingSafeEqual(digestOf(given), digestOf(one))).includes(true);
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Compares every signature with every key's HMAC in constant time, as {@link anySame} does. */
export function isSignedBy(
  keys: readonly (string | Buffer)[],
  algorithm: string,
  content: string | Buffer,
  signatures: readonly Buffer[],
): boolean {
  return keys
    .map((key) => createHmac(algorithm, key).update(content).digest())
    .flatMap((own) =>
      signatures.map((given) => given.length === own.length && timingSafeEqual(given, own)),
    )
    .includes(true);
}

/**
 * Whether a signed time, in epoch seconds, is of the last days: providers repeat a callback for up to one or
 * two, and some with its first time.
 */
export function isOfTheLastDays(seconds: string, receivedAt: number): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(receivedAt - Number(seconds) * 1_000) <= THREE_DAYS;
}

/**
 * @throws MessagingConfigError where the request has a body but the app keeps no raw bytes
 * @throws UnsupportedCallbackTypeError where the platform does not read the body, for its type
 */
export function rawBodyOf(request: CallbackRequest): Buffer {
  if (request.rawBody) return request.rawBody;
  const { body } = request;
  // Express sets `{}` for a request without a body.
  const hasFields = typeof body === 'object' && body !== null && Object.keys(body).length > 0;
  if (!hasFields) requireBodyType(request);
  if (hasFields || (typeof body !== 'object' && Boolean(body)))
    throw new MessagingConfigError(
      'callbacks: the raw body, which the signature is over, is not kept; ' +
        'pass { rawBody: true } to NestFactory.create()',
    );
  return Buffer.alloc(0);
}

/** Whether `given` is the hex SHA-256 of the body. */
export function isBodyHash(request: CallbackRequest, given: unknown): boolean {
  const hash = createHash('sha256').update(rawBodyOf(request)).digest('hex');
  return typeof given === 'string' && anySame(given.toLowerCase(), [hash]);
}

/** Most fields of a signed form: they are sorted before the signature is verified. */
const MOST_FIELDS = 1_000;

/** `undefined`: no form, or one of too many fields. */
export function signedForm(request: CallbackRequest): readonly [string, string][] | undefined {
  if (bodyTypeOf(request) !== 'form') return undefined;
  const form = rawBodyOf(request);
  let separators = 0;
  for (let at = form.indexOf('&'); at !== -1; at = form.indexOf('&', at + 1))
    if (++separators >= MOST_FIELDS) return undefined;
  return sortedFields(form.toString());
}

export function sortedFields(form: string): readonly [string, string][] {
  return [...new URLSearchParams(form)].toSorted(
    ([name, value], [otherName, otherValue]) =>
      compared(name, otherName) || compared(value, otherValue),
  );
}

function compared(one: string, other: string): number {
  return Number(one > other) - Number(one < other);
}

/** Options of verifiers of signatures by an auth token, which cover the address of the callback. */
export interface AuthTokenOptions {
  /** Auth token of the account; several during a rotation, or for subaccounts. */
  readonly authToken: Secrets;
  /** Scheme and host as the provider calls them (`https://app.example.com`); a proxy may hide them. */
  readonly origin: string;
}

export const readAuthToken = group({
  authToken: readSecrets,
  origin: textLike(/^https?:\/\/[^/?#\s]+$/, 'scheme and host, such as https://app.example.com'),
} satisfies ReadersOf<AuthTokenOptions>);

export interface BasicAuthOptions {
  readonly username: string;
  /** At least 16 characters; two during a rotation. */
  readonly password: Secrets;
}

const readBasicAuth = group({
  username: textLike(/^[^:]+$/, 'a name without a colon'),
  password: readSecrets,
} satisfies ReadersOf<BasicAuthOptions>);

/**
 * HTTP Basic authentication (RFC 7617), as in `https://user:password@app.example.com/…`.
 * @throws MessagingConfigError naming the wrong option
 */
export function basicAuth(options: BasicAuthOptions): CallbackVerifier {
  const { username, password } = readBasicAuth('basicAuth', options);
  const expected = password.map((secret) => `${username}:${secret}`);
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
  readonly header: string;
  /** @default 'sha256' */
  readonly algorithm?: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  /** @default 'hex' */
  readonly encoding?: 'hex' | 'base64' | 'base64url';
  /** Text before the signature, such as `sha256=`. @default '' */
  readonly prefix?: string;
}

const readHmacSignature = group({
  secret: readSecrets,
  header: textLike(/^[A-Za-z0-9-]+$/, 'the name of a header'),
  algorithm: withDefault(oneOf('sha1', 'sha256', 'sha384', 'sha512'), 'sha256'),
  encoding: withDefault(oneOf('hex', 'base64', 'base64url'), 'hex'),
  prefix: withDefault(text, ''),
} satisfies ReadersOf<HmacSignatureOptions>);

/**
 * Verifies a header with the HMAC of the body's bytes. A GET always fails, because its query is not
 * signed. The HMAC does not prove the time: add `ipRanges()` where a repeated body matters
 * (repeated reports change nothing).
 * @example
 * hmacSignature({ header: 'X-Termii-Signature', algorithm: 'sha512', secret: TERMII_SECRET })
 * @throws MessagingConfigError naming the wrong option
 */
export function hmacSignature(options: HmacSignatureOptions): CallbackVerifier {
  const checked = readHmacSignature('hmacSignature', options);
  const { secret, header, algorithm, encoding, prefix } = checked;
  return {
    verify: (request) => {
      const given = request.headers[header.toLowerCase()];
      if (request.method === 'GET' || typeof given !== 'string' || !given.startsWith(prefix))
        return false;
      const signature = Buffer.from(given.slice(prefix.length).trim(), encoding);
      return isSignedBy(secret, algorithm, rawBodyOf(request), [signature]);
    },
  };
}

/**
 * Verifies that the peer's address is in a range (`203.0.113.0/24`, `2001:db8::/32`, or an
 * address). An IPv4-mapped IPv6 address counts as IPv4. Behind a proxy, make the platform trust it,
 * or the peer is the proxy: `trustProxy` on Fastify, `app.set('trust proxy', …)` on Express.
 * @throws MessagingConfigError naming the range by its index
 */
export function ipRanges(ranges: readonly string[]): CallbackVerifier {
  if (ranges.length === 0) throw new MessagingConfigError('ipRanges: must name at least one range');
  const listed = ranges.map((range, index) => {
    try {
      const wholeLength = range.includes(':') ? 128 : 32;
      return ipaddr.parseCIDR(range.includes('/') ? range : `${range}/${wholeLength}`);
    } catch {
      throw new MessagingConfigError(
        `ipRanges[${index}]: ${JSON.stringify(range)} is no range; write 203.0.113.0/24 or one address`,
      );
    }
  });
  return {
    verify: ({ ip }) =>
      ipaddr.isValid(ip) &&
      ipaddr.subnetMatch(ipaddr.process(ip), { listed }, 'other') === 'listed',
  };
}

const secretIn: OptionReader<
  (request: CallbackRequest) => unknown,
  'path' | { readonly query: string } | { readonly header: string }
> = (option, given) => {
  if (given === 'path') return ({ pathSecret }) => pathSecret;
  const { query: parameter, header } = (given ?? {}) as { query?: unknown; header?: unknown };
  if (typeof parameter === 'string' && parameter !== '')
    return ({ query }) => (Object.hasOwn(query, parameter) ? query[parameter] : undefined);
  if (typeof header === 'string' && header !== '')
    return ({ headers }) => headers[header.toLowerCase()];
  throw new MessagingConfigError(
    `${option}: must be 'path', { query: 'name' } or { header: 'name' }`,
  );
};

export interface SharedSecretOptions {
  /** At least 16 characters; two during a rotation. */
  readonly secret: Secrets;
  /** Path segment after the provider's name, or a named parameter or header. @default 'path' */
  readonly in?: 'path' | { readonly query: string } | { readonly header: string };
}

const readSharedSecret = group({
  secret: readSecrets,
  in: withDefault(secretIn, 'path'),
} satisfies ReadersOf<SharedSecretOptions>);

/**
 * Verifies a secret in the callback address (`…/delivery-reports/acme/{secret}`), for providers
 * that cannot sign. It is the weakest verifier, because access logs of servers and proxies show
 * paths and queries: combine it with {@link ipRanges}.
 * @example
 * sharedSecret({ secret: process.env.ACME_SECRET, in: { query: 'token' } })
 * @throws MessagingConfigError naming the wrong option
 */
export function sharedSecret(options: SharedSecretOptions): CallbackVerifier {
  const { secret, in: given } = readSharedSecret('sharedSecret', options);
  return {
    verify: (request) => {
      const found = given(request);
      return typeof found === 'string' && anySame(found, secret);
    },
  };
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

/** Verifies a callback that one verifier accepts, for a provider that changes its verification. */
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
