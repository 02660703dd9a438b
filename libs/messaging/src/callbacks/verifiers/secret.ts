import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackRequest } from '../../ports/callback-parser.js';
import { type OptionReader, textLike } from '../../ports/option-schema.js';

/** One secret, or two during a rotation. */
export type Secrets = string | readonly string[];

const MIN_LENGTH = 16;

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

/** @throws MessagingConfigError where the request has a body but the app keeps no raw bytes */
export function rawBodyOf({ body, rawBody }: CallbackRequest): Buffer {
  if (rawBody) return rawBody;
  // Express sets `{}` for a request without a body.
  const hasContent =
    typeof body === 'object' && body !== null ? Object.keys(body).length > 0 : Boolean(body);
  if (hasContent)
    throw new MessagingConfigError(
      'callbacks: the raw body, which the signature is over, is not kept; ' +
        'pass { rawBody: true } to NestFactory.create()',
    );
  return Buffer.alloc(0);
}

export function signedForm(request: CallbackRequest): readonly [string, string][] | undefined {
  const type = request.headers['content-type'];
  return typeof type === 'string' && type.startsWith('application/x-www-form-urlencoded')
    ? sortedFields(rawBodyOf(request).toString())
    : undefined;
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

export const readOrigin = textLike(
  /^https?:\/\/[^/?#\s]+$/,
  'scheme and host, such as https://app.example.com',
);
