import { createHmac, timingSafeEqual } from 'node:crypto';
import { MessagingConfigError } from '../message/errors.js';
import type { Clock } from '../ports/clock.js';
import type { CallbackRequest, CallbackVerifier } from '../ports/delivery-report-parser.js';
import { rawBodyOf } from './verifiers/raw-body.js';

/** Seconds a signature may be old or early. */
const TOLERANCE = 300;
/** Signatures in one header that are looked at; a rotation needs two. */
const MAX_SIGNATURES = 8;
const MIN_KEY_BYTES = 16;

/**
 * Standard Webhooks, symmetric (`v1`): HMAC-SHA256 over `{id}.{timestamp}.{raw body}`, at most five
 * minutes old or early, by any of several secrets, compared in constant time.
 * A GET is never proven: its query is not part of what is signed.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export class StandardWebhooksVerifier implements CallbackVerifier {
  readonly #keys: readonly Buffer[];

  /** @throws MessagingConfigError naming the secret by its index, never by its value. */
  constructor(
    secrets: readonly string[],
    private readonly clock: Clock,
    option = 'callbacks.secrets',
  ) {
    this.#keys = secrets.map((secret, index) => keyOf(secret, `${option}[${index}]`));
  }

  /** @throws MessagingConfigError where the application keeps no raw bodies. */
  verify(request: CallbackRequest): boolean {
    const { method, headers } = request;
    if (method === 'GET') return false;
    const id = headers['webhook-id'];
    const timestamp = headers['webhook-timestamp'];
    const signatures = headers['webhook-signature'];
    if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
      return false;
    if (!/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(this.clock.now() / 1000 - Number(timestamp)) > TOLERANCE) return false;
    const signed = rawBodyOf(request);
    const given = signatures
      .split(' ', MAX_SIGNATURES)
      .flatMap((entry) => (entry.startsWith('v1,') ? [Buffer.from(entry.slice(3), 'base64')] : []));
    return this.#keys.some((key) => {
      const expected = createHmac('sha256', key)
        .update(`${id}.${timestamp}.`)
        .update(signed)
        .digest();
      return given.some(
        (signature) => signature.length === expected.length && timingSafeEqual(signature, expected),
      );
    });
  }
}

function keyOf(secret: unknown, option: string): Buffer {
  const reject = (cause: string): never => {
    throw new MessagingConfigError(
      `${option}: ${cause}; pass the secret as the service showed it, whsec_ and base64`,
    );
  };
  if (typeof secret !== 'string' || secret === '') return reject('is missing');
  if (/\s/.test(secret)) return reject('white space or a newline was copied with it');
  if (!secret.startsWith('whsec_')) return reject('does not start with whsec_');
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(secret.slice(6))) return reject('is no base64 after whsec_');
  const key = Buffer.from(secret.slice(6), 'base64');
  return key.length < MIN_KEY_BYTES ? reject(`is shorter than ${MIN_KEY_BYTES} bytes`) : key;
}
