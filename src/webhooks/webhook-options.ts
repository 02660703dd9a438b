import type { Environment } from '../config/environment.js';

export const WEBHOOK_OPTIONS = Symbol('WEBHOOK_OPTIONS');

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const hours = (count: number): number => count * HOUR;

/** Durations are in milliseconds. */
export function webhookOptions({
  NODE_ENV,
  WEBHOOK_ALLOW_PRIVATE,
  WEBHOOK_PORTS,
  LEASE,
}: Pick<Environment, 'NODE_ENV' | 'WEBHOOK_ALLOW_PRIVATE' | 'WEBHOOK_PORTS' | 'LEASE'>) {
  return {
    /** Endpoints may have private and loopback addresses. */
    allowPrivate: WEBHOOK_ALLOW_PRIVATE,
    /** Ranges of ports that endpoints may have. */
    ports: WEBHOOK_PORTS,
    /** Callbacks contain phone numbers: production requires encryption. */
    requireHttps: NODE_ENV === 'production' && !WEBHOOK_ALLOW_PRIVATE,
    maxEndpoints: 10,
    /** Most requests in flight per endpoint. */
    concurrency: 16,
    /** Deadline of one attempt, including the connection. */
    timeout: 15 * SECOND,
    /** Delays between the attempts of one event; up to a tenth is added at random. */
    schedule: [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map(hours)],
    /** Longest `Retry-After` that is honoured. */
    maxRetryAfter: DAY,
    /** Time without a success after which an endpoint is disabled. */
    failingLimit: 5 * DAY,
    /** Time for which a rotated secret still signs. */
    rotation: DAY,
    /** Short: a takeover may only repeat callbacks, which receivers recognise by their id. */
    lease: Math.min(LEASE, 10 * SECOND),
    /**
     * Time for which a process keeps an endpoint after its last delivery, and after which it finds the
     * callbacks that other processes have written meanwhile.
     */
    linger: 100,
    /** Largest age of the endpoint that a lane sends to. */
    staleness: 500,
    /** Longest time a stop waits for requests in flight. */
    shutdownTimeout: 5 * SECOND,
    /** Retention of deliveries and attempts. */
    retention: 14 * DAY,
  };
}

export type WebhookOptions = Readonly<ReturnType<typeof webhookOptions>>;
