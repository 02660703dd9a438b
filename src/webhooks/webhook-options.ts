import type { Environment } from '../config/environment.js';

/** Options of the webhooks. Durations in milliseconds. */
export interface WebhookOptions {
  /** Endpoints may have private and loopback addresses. @default false */
  readonly allowPrivate: boolean;
  /** Endpoints must be https. @default true in production, unless `allowPrivate` */
  readonly requireHttps: boolean;
  /** Endpoints an account may have. @default 10 */
  readonly maxEndpoints: number;
  /** Requests in flight to one endpoint; fewer while it times out. @default 16 */
  readonly concurrency: number;
  /** One attempt, connection included. @default 15 s */
  readonly timeout: number;
  /** Waits between the attempts of one event; up to a tenth is added at random. @default 5 s … 24 h */
  readonly schedule: readonly number[];
  /** Longest `Retry-After` that is honoured. @default 24 h */
  readonly maxRetryAfter: number;
  /** Time without a success after which an endpoint is disabled. @default 5 days */
  readonly failingLimit: number;
  /** Time in which a rotated secret still signs. @default 24 h */
  readonly rotation: number;
  /** How long an endpoint stays with a process that has died. @default 10 s, or LEASE if shorter */
  readonly lease: number;
  /** How long an endpoint stays with this process after its last delivery. @default 1 s */
  readonly linger: number;
  /** Greatest age of the cached endpoints. @default 500 ms */
  readonly staleness: number;
  /** Longest time a stop waits for requests in flight. @default 5 s */
  readonly shutdownTimeout: number;
  /** How long deliveries and attempts are kept. @default 14 days */
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
    // The receiver recognises a repeated callback by its id, so that a short lease costs little.
    lease: Math.min(environment.LEASE, 10 * SECOND),
    linger: SECOND,
    staleness: 500,
    shutdownTimeout: 5 * SECOND,
    retention: 14 * DAY,
  };
}
