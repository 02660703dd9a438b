import { createHash } from 'node:crypto';
import type { FieldError } from '../message/errors.js';
import type { SendOptions } from './send-options.js';

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const TENANT = /^[\x20-\x7e]{0,200}$/;

/** Adds what is wrong with the options that every channel's `send()` takes. */
export function checkOptions(options: SendOptions, errors: FieldError[]): void {
  if (options.class !== undefined && options.class !== 'high' && options.class !== 'normal')
    errors.push({ path: 'class', message: "must be 'high' or 'normal'" });
  checkTenant(options.tenant, errors);
  checkIdempotencyKey(options.idempotencyKey, errors);
}

export function checkTenant(tenant: unknown, errors: FieldError[]): void {
  if (!isText(tenant, TENANT))
    errors.push({ path: 'tenant', message: 'must be at most 200 ASCII characters' });
}

export function checkIdempotencyKey(key: unknown, errors: FieldError[]): void {
  if (!isText(key, IDEMPOTENCY_KEY))
    errors.push({ path: 'idempotencyKey', message: 'must be 1 to 255 visible ASCII characters' });
}

/** Left out, or a text of that form: `null` is neither. */
function isText(value: unknown, form: RegExp): boolean {
  return value === undefined || (typeof value === 'string' && form.test(value));
}

/** Adds an error unless `time` is left out or a date the store can hold: years 1970 to 9999. */
export function checkTime(path: string, time: unknown, errors: FieldError[]): void {
  if (time === undefined) return;
  const at = time instanceof Date ? time.getTime() : Number.NaN;
  if (!(at >= 0 && at < 253_402_300_800_000))
    errors.push({ path, message: 'must be a valid date' });
}

/** What two sends under one idempotency key must have in common: all that was asked for. */
export function fingerprintOf(asked: readonly unknown[], recipients: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify(asked))
    .update(recipients.join('\n'))
    .digest('hex');
}
