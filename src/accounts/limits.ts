import { Inject, Injectable } from '@nestjs/common';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import type { Rate } from '../config/variable.js';
import { ApiError } from '../http/api-error.js';
import type { HttpReply, HttpRequest } from '../http/http-message.js';

/** The remainder of a window after a request. */
export interface WindowState {
  /** Requests still allowed; negative: this one exceeds the limit. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly reset: number;
}

interface Count {
  used: number;
  endsAt: number;
}

const MOST_KEYS = 20_000;

/** Counts requests by key in fixed windows, in this process alone. */
export class RequestWindow {
  readonly #counts = new Map<string, Count>();

  constructor(
    readonly rate: Rate,
    private readonly now: () => number = () => performance.now(),
  ) {}

  take(key: string): WindowState {
    const now = this.now();
    let count = this.#counts.get(key);
    if (!count || now >= count.endsAt) {
      this.#counts.delete(key);
      count = { used: 0, endsAt: now + this.rate.per };
      this.#counts.set(key, count);
      if (this.#counts.size > MOST_KEYS) this.#forgetOldest();
    }
    count.used++;
    return {
      remaining: this.rate.max - count.used,
      reset: Math.max(1, Math.ceil((count.endsAt - now) / 1_000)),
    };
  }

  /** The windows are ordered by their start. */
  #forgetOldest(): void {
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined) this.#counts.delete(oldest);
  }
}

/**
 * Limits requests per credential; the headers `RateLimit` and `RateLimit-Policy`
 * (draft-ietf-httpapi-ratelimit-headers) show the limit. Each process counts for itself.
 */
@Injectable()
export class RequestLimit {
  readonly #window: RequestWindow | undefined;
  readonly #policy: string;

  constructor(@Inject(ENVIRONMENT) { REQUEST_LIMIT }: Environment) {
    this.#window = REQUEST_LIMIT && new RequestWindow(REQUEST_LIMIT);
    this.#policy = REQUEST_LIMIT
      ? `"credential";q=${REQUEST_LIMIT.max};w=${REQUEST_LIMIT.per / 1_000}`
      : '';
  }

  /** @throws ApiError 429 with `Retry-After` */
  take(credentialId: string, reply: HttpReply): void {
    if (!this.#window) return;
    const { remaining, reset } = this.#window.take(credentialId);
    reply.header('ratelimit-policy', this.#policy);
    reply.header('ratelimit', `"credential";r=${Math.max(0, remaining)};t=${reset}`);
    if (remaining < 0)
      throw new ApiError('rate_limited', 'Too many requests with this credential; wait a moment', {
        headers: { 'retry-after': String(reset) },
      });
  }
}

/**
 * Limits requests without a valid credential, by address. Only such requests are refused: a valid
 * credential passes from any address.
 */
@Injectable()
export class FailedAttempts {
  readonly #window: RequestWindow | undefined;

  constructor(@Inject(ENVIRONMENT) { AUTH_FAILURE_LIMIT }: Environment) {
    this.#window = AUTH_FAILURE_LIMIT && new RequestWindow(AUTH_FAILURE_LIMIT);
  }

  /** `undefined`: there is no limit. */
  count(ip: string): WindowState | undefined {
    return this.#window?.take(networkOf(ip));
  }
}

/** The /64 of an IPv6 address, since one customer usually has all of it. */
function networkOf(ip: string): string {
  if (!ip.includes(':') || ip.includes('.')) return ip;
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    while (groups.length + after.length < 8) groups.push('0');
    groups.push(...after);
  }
  return groups.slice(0, 4).join(':');
}

/** Each thousand recipients of a send count as one more send. */
const RECIPIENTS_A_SEND = 1_000;

/**
 * Limits the sends that wait for the database. Further sends are refused, so that the process does
 * not run out of memory and clients know to retry.
 */
@Injectable()
export class PendingSends {
  readonly #most: number;
  #pending = 0;

  constructor(@Inject(ENVIRONMENT) { MAX_PENDING_SENDS }: Environment) {
    this.#most = MAX_PENDING_SENDS;
  }

  /**
   * Reserves capacity for one send; {@link leave} releases it. Without other sends under way, a
   * send of any size is admitted.
   * @throws ApiError 503 with `Retry-After`
   */
  take(recipients: number): number {
    if (this.#pending >= this.#most)
      throw new ApiError('unavailable', 'The service is behind with accepting; try again', {
        headers: { 'retry-after': '1' },
      });
    const weight = 1 + Math.floor(recipients / RECIPIENTS_A_SEND);
    this.#pending += weight;
    return weight;
  }

  /** @param place the result of {@link take} */
  leave(place: number): void {
    this.#pending -= place;
  }
}

/** Largest body that is read without a valid credential, in bytes. */
const UNAUTHENTICATED_BODY = 65_536;

/** A route that verifies its callers by the content of their requests. */
export interface SelfVerifiedRoute {
  readonly path: string;
  /** Largest body of the route, in bytes. */
  readonly bodyLimit: number;
}

/**
 * Reads a large body only for a valid credential: parsing some megabytes of JSON takes half a
 * second, and a route's guard runs only after it. Call it before Nest registers its routes.
 */
export function guardLargeBodies(
  adapter: FastifyAdapter,
  auth: { recognises(request: HttpRequest): Promise<void> },
  { path, bodyLimit }: SelfVerifiedRoute,
): void {
  const fastify = adapter.getInstance();
  const isSelfVerified = (url = ''): boolean => url === path || url.startsWith(`${path}/`);
  fastify.addHook('onRoute', (route) => {
    if (isSelfVerified(route.url)) route.bodyLimit = bodyLimit;
  });
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!isLarge(request.headers)) done();
    else if (request.is404) done(new ApiError('not_found', 'There is nothing at this path'));
    else if (isSelfVerified(request.routeOptions.url)) done();
    else auth.recognises(request).then(() => done(), done);
  });
}

/** A body of unknown length counts as large. */
function isLarge(headers: Readonly<Record<string, unknown>>): boolean {
  return (
    Number(headers['content-length'] ?? 0) > UNAUTHENTICATED_BODY ||
    headers['transfer-encoding'] !== undefined
  );
}
