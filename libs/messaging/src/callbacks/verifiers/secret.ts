import { createHash, timingSafeEqual } from 'node:crypto';
import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackRequest } from '../../ports/delivery-report-parser.js';

/** One secret, or two during a rotation. */
export type Secrets = string | readonly string[];

const MIN_LENGTH = 16;

/**
 * Returns the secrets after checks for common deployment mistakes.
 * @throws MessagingConfigError naming the option, never the secret
 */
export function checkedSecrets(option: string, given: Secrets | undefined): readonly string[] {
  const secrets = typeof given === 'string' ? [given] : (given ?? []);
  const reject = (cause: string): never => {
    throw new MessagingConfigError(`${option}: ${cause}`);
  };
  if (secrets.length === 0) reject('is missing; pass the secret you share with the provider');
  for (const secret of secrets) {
    if (typeof secret !== 'string' || secret === '') reject('is empty');
    if (/\s/.test(secret)) reject('white space or a newline was copied with it');
    if (secret.length < MIN_LENGTH)
      reject(`is shorter than ${MIN_LENGTH} characters and can be guessed`);
  }
  return secrets;
}

/** Compares two texts of any length in constant time. */
export function sameText(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

/** Compares every candidate, so that the duration does not reveal which one matches. */
export function anySame(given: string, expected: readonly string[]): boolean {
  return expected.map((secret) => sameText(given, secret)).includes(true);
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Bytes that the signature covers.
 * @throws MessagingConfigError where the request has a body and the application keeps no raw bytes
 */
export function rawBodyOf({ body, rawBody }: CallbackRequest): Buffer {
  if (rawBody) return rawBody;
  if (hasContent(body))
    throw new MessagingConfigError(
      'callbacks: the raw body, which the signature is over, is not kept; ' +
        'pass { rawBody: true } to NestFactory.create()',
    );
  return Buffer.alloc(0);
}

/** Express sets `{}` for a request without a body. */
function hasContent(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return Boolean(body);
  return Object.keys(body).length > 0;
}

/**
 * Scheme and host of the callback address, as the provider calls it.
 * @throws MessagingConfigError naming the option
 */
export function checkedOrigin(option: string, origin: string): string {
  if (!/^https?:\/\/[^/?#\s]+$/.test(origin))
    throw new MessagingConfigError(
      `${option}: must be scheme and host, such as https://app.example.com`,
    );
  return origin;
}
