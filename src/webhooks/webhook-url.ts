import { invalidFields } from '../http/api-error.js';
import { isPublicAddress, literalAddress } from './address-guard.js';

const MAX_WEBHOOK_URL_LENGTH = 2_048;

export interface WebhookUrlRules {
  /** Private and loopback addresses, and plain http, are fine. */
  readonly allowPrivate: boolean;
  /** Callbacks hold phone numbers: in production they travel encrypted. */
  readonly requireHttps: boolean;
}

/**
 * Says what is wrong with a webhook URL as written. Names are resolved when a callback is sent, not
 * here: what they resolve to may change.
 *
 * @throws ApiError 422 on `url`
 */
export function checkWebhookUrl(url: unknown, rules: WebhookUrlRules): asserts url is string {
  const problem = problemOf(url, rules);
  if (problem) throw invalidFields([{ path: 'url', message: problem }]);
}

function problemOf(value: unknown, { allowPrivate, requireHttps }: WebhookUrlRules) {
  if (typeof value !== 'string' || value === '')
    return 'must be an address such as https://example.com/sms-reports';
  if (value.length > MAX_WEBHOOK_URL_LENGTH)
    return `must have at most ${MAX_WEBHOOK_URL_LENGTH} characters`;
  // The URL parser would silently drop line breaks and encode spaces.
  if (/[\s\p{C}\\]/u.test(value) || !URL.canParse(value))
    return 'must be a complete address such as https://example.com/sms-reports';
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return 'must begin with https:// or http://';
  if (requireHttps && url.protocol === 'http:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user name or password; verify the signature instead';
  if (url.hash !== '' || value.includes('#')) return 'must not have a fragment (#…)';
  if (!allowPrivate && isInside(url.hostname))
    return 'must be reachable from the public internet; private and loopback addresses are refused unless the gateway runs with WEBHOOK_ALLOW_PRIVATE=true';
  return undefined;
}

function isInside(hostname: string): boolean {
  const literal = literalAddress(hostname);
  if (literal !== undefined) return !isPublicAddress(literal);
  return /(^|\.)localhost\.?$/.test(hostname);
}

/** Scheme, host and port: what may stand in a log. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'invalid';
}
