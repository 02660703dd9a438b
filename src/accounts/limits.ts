import { Inject, Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import type { Rate } from '../settings/parsers.js';
import { ApiError } from '../http/api-error.js';

const MOST_KEYS = 20_000;

/** Counts requests by key in fixed windows, in this process alone. */
export class RequestWindow {
  readonly #counts = new Map<string, { used: number; readonly endsAt: number }>();

  constructor(
    readonly rate: Rate,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** `remaining` is negative over the limit; `reset` is in whole seconds, at least 1. */
  take(key: string): { remaining: number; reset: number } {
    const now = this.now();
    let count = this.#counts.get(key);
    if (!count || now >= count.endsAt) {
      this.#counts.delete(key);
      count = { used: 0, endsAt: now + this.rate.per };
      this.#counts.set(key, count);
      // Windows are ordered by their start.
      const [oldest] = this.#counts.keys();
      if (this.#counts.size > MOST_KEYS && oldest !== undefined) this.#counts.delete(oldest);
    }
    count.used++;
    return { remaining: this.rate.max - count.used, reset: secondsTo(count.endsAt, now) };
  }

  /** Takes back a {@link take} that does not count after all. */
  giveBack(key: string): void {
    const count = this.#counts.get(key);
    if (count && count.used > 0) count.used--;
  }

  /** Whole seconds until `key` may go on, at least 1; `undefined` below its limit. */
  exhaustedFor(key: string): number | undefined {
    const now = this.now();
    const count = this.#counts.get(key);
    const isExhausted = count && count.used >= this.rate.max && now < count.endsAt;
    return isExhausted ? secondsTo(count.endsAt, now) : undefined;
  }
}

function secondsTo(end: number, now: number): number {
  return Math.max(1, Math.ceil((end - now) / 1_000));
}

/** The windows of this process; Nest makes an `AuthGuard` for each module. */
@Injectable()
export class RequestLimits {
  /** Requests per credential. */
  readonly requests: RequestWindow | undefined;
  /** Requests without a valid credential, per network. */
  readonly failures: RequestWindow | undefined;
  /** Callbacks of the carrier without a valid signature, per network. */
  readonly callbackFailures: RequestWindow | undefined;
  /** Unsubscribe links that this gateway did not make, per network. */
  readonly unknownLinks: RequestWindow | undefined;

  constructor(@Inject(ENVIRONMENT) { REQUEST_LIMIT, AUTH_FAILURE_LIMIT }: Environment) {
    this.requests = REQUEST_LIMIT && new RequestWindow(REQUEST_LIMIT);
    this.failures = AUTH_FAILURE_LIMIT && new RequestWindow(AUTH_FAILURE_LIMIT);
    this.callbackFailures = AUTH_FAILURE_LIMIT && new RequestWindow(AUTH_FAILURE_LIMIT);
    this.unknownLinks = AUTH_FAILURE_LIMIT && new RequestWindow(AUTH_FAILURE_LIMIT);
  }
}

/** An IPv6 /64, which one customer usually has whole, or an IPv4 address. */
export function networkOf(ip: string): string {
  return networksOf(ip)[1];
}

/** The wider network of an address (an IPv6 /48, an IPv4 /24), then {@link networkOf}. */
export function networksOf(ip: string): readonly [wide: string, network: string] {
  if (!ipaddr.isValid(ip)) return [ip, ip];
  const address = ipaddr.process(ip);
  if (!('parts' in address)) return [address.octets.slice(0, 3).join('.'), address.toString()];
  return [address.parts.slice(0, 3).join(':'), address.parts.slice(0, 4).join(':')];
}

/** Each thousand recipients of a send count as one more send. */
const RECIPIENTS_A_SEND = 1_000;

/** Limits the sends that wait for the database, so that the process does not run out of memory. */
@Injectable()
export class PendingSends {
  #pending = 0;

  constructor(@Inject(ENVIRONMENT) private readonly environment: Environment) {}

  /** A lone send of any size is admitted. @throws ApiError 503 with `Retry-After` */
  async during<T>(recipients: number, work: () => Promise<T>): Promise<T> {
    if (this.#pending >= this.environment.MAX_PENDING_SENDS)
      throw new ApiError('unavailable', 'The service is behind with accepting; try again', {
        headers: { 'retry-after': '1' },
      });
    const weight = 1 + Math.floor(recipients / RECIPIENTS_A_SEND);
    this.#pending += weight;
    try {
      return await work();
    } finally {
      this.#pending -= weight;
    }
  }
}
