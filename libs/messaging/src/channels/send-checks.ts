import { createHash } from 'node:crypto';
import type { FieldError } from '../message/errors.js';
import type { SendOptions } from './send-options.js';

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const TENANT = /^[\x20-\x7e]{0,200}$/;

/** Adds what is wrong with the options that every channel's `send()` takes. */
export function checkOptions(options: SendOptions, errors: FieldError[]): void {
  if (options.class !== undefined && options.class !== 'high' && options.class !== 'normal')
    errors.push({ path: 'class', message: "must be 'high' or 'normal'" });
  if (options.tenant !== undefined && !TENANT.test(options.tenant))
    errors.push({ path: 'tenant', message: 'must be at most 200 ASCII characters' });
  if (options.idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(options.idempotencyKey))
    errors.push({ path: 'idempotencyKey', message: 'must be 1 to 255 visible ASCII characters' });
}

/** Adds an error unless `sendAt` is left out or a date the ledger can hold: years 1970 to 9999. */
export function checkSendAt(sendAt: unknown, errors: FieldError[]): void {
  if (sendAt === undefined) return;
  const time = sendAt instanceof Date ? sendAt.getTime() : Number.NaN;
  if (!(time >= 0 && time < 253_402_300_800_000))
    errors.push({ path: 'sendAt', message: 'must be a valid date' });
}

/** What two sends under one idempotency key must have in common: all that was asked for. */
export function fingerprintOf(asked: readonly unknown[], recipients: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify(asked))
    .update(recipients.join('\n'))
    .digest('hex');
}
