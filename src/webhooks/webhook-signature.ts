import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** The headers that authenticate a callback (Standard Webhooks 1.0.0). */
export interface WebhookHeaders {
  readonly 'webhook-id': string;
  /** Unix seconds of this attempt. */
  readonly 'webhook-timestamp': string;
  /** `v1,…` per secret, separated by spaces. */
  readonly 'webhook-signature': string;
}

/** A new endpoint secret: 32 random bytes, the key size of HMAC-SHA256. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/**
 * Former secrets that still sign: the last one, and the one before it, in case the response with
 * the last one was lost.
 */
const FORMER = 2;

/** Joins former secrets for their column, newest first, with one prefix. */
export function joinSecrets(secrets: readonly string[]): string {
  const bare = secrets.slice(0, FORMER).map((secret) => secret.slice(PREFIX.length));
  return PREFIX + bare.join(' ');
}

export function splitSecrets(joined: string): string[] {
  return joined
    .slice(PREFIX.length)
    .split(' ')
    .map((secret) => PREFIX + secret);
}

/**
 * Signs one attempt with all given secrets. During a rotation there are several, so that a receiver
 * with any of them can verify.
 *
 * @param at milliseconds since 1970
 * @example
 * webhookHeaders('0193…', Date.now(), body, [endpoint.secret]);
 */
export function webhookHeaders(
  id: string,
  at: number,
  body: string,
  secrets: readonly string[],
): WebhookHeaders {
  const timestamp = String(Math.floor(at / 1_000));
  const signed = `${id}.${timestamp}.${body}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => `v1,${hmac(secret, signed)}`).join(' '),
  };
}

function hmac(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(content, 'utf8').digest('base64');
}
