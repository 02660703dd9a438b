import type { Environment } from '../config/environment.js';

/** Options of the webhooks. Durations in milliseconds. */
export interface WebhookOptions {
  /** Endpoints may have private and loopback addresses. @default false */
  readonly allowPrivate: boolean;
  /** Endpoints must be https. @default true in production, unless `allowPrivate` */
  readonly requireHttps: boolean;
  /** Most endpoints per account. @default 10 */
  readonly maxEndpoints: number;
  /** Most requests in flight per endpoint; reduced after time-outs. @default 16 */
  readonly concurrency: number;
  /** Deadline of one attempt, including the connection. @default 15 s */
  readonly timeout: number;
  /**
   * Delays between the attempts of one event; up to a tenth is added at random. @default 5 s … 24 h
   */
  readonly schedule: readonly number[];
  /** Longest `Retry-After` that is honoured. @default 24 h */
  readonly maxRetryAfter: number;
  /** Time without a success after which an endpoint is disabled. @default 5 days */
  readonly failingLimit: number;
  /** Time for which a rotated secret still signs. @default 24 h */
  readonly rotation: number;
  /**
   * Lease of an endpoint: time until another process may take over after a crash. @default 10 s, or
   * LEASE if shorter
   */
  readonly lease: number;
  /** Time for which a process keeps an endpoint after its last delivery. @default 1 s */
  readonly linger: number;
  /** Largest age of cached endpoints. @default 500 ms */
  readonly staleness: number;
  /** Longest time a stop waits for requests in flight. @default 5 s */
  readonly shutdownTimeout: number;
  /** Retention of deliveries and attempts. @default 14 days */
  readonly retention: number;
}

/** Injection token of the {@link WebhookOptions}. */
export const WEBHOOK_OPTIONS = Symbol('WEBHOOK_OPTIONS');

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const RETRY_SCHEDULE: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

export type WebhookEnvironment = Pick<Environment, 'NODE_ENV' | 'WEBHOOK_ALLOW_PRIVATE' | 'LEASE'>;

export function webhookOptions(environment: WebhookEnvironment): WebhookOptions {
  const allowPrivate = environment.WEBHOOK_ALLOW_PRIVATE;
  return {
    allowPrivate,
    requireHttps: environment.NODE_ENV === 'production' && !allowPrivate,
    maxEndpoints: 10,
    concurrency: 16,
    timeout: 15 * SECOND,
    schedule: RETRY_SCHEDULE,
    maxRetryAfter: DAY,
    failingLimit: 5 * DAY,
    rotation: DAY,
    // Short, because a takeover may only repeat callbacks, and receivers recognise those by their
    // id.
    lease: Math.min(environment.LEASE, 10 * SECOND),
    linger: SECOND,
    staleness: 500,
    shutdownTimeout: 5 * SECOND,
    retention: 14 * DAY,
  };
}
