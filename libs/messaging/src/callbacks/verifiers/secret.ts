import { createHash, timingSafeEqual } from 'node:crypto';
import { MessagingConfigError } from '../../message/errors.js';

/** One secret, or two during a rotation. */
export type Secrets = string | readonly string[];

const MIN_LENGTH = 16;

/**
 * The secrets as given, checked as a deployment gets them wrong.
 * @throws MessagingConfigError naming the option, never the secret.
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

/** In constant time, whatever their lengths. */
export function sameText(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

/** Every candidate is compared, so that time does not tell which one it was. */
export function anySame(given: string, expected: readonly string[]): boolean {
  return expected.map((secret) => sameText(given, secret)).includes(true);
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
