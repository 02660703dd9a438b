import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../http/api-error.js';
import { networkOf } from './limits.js';

/** Largest body that is read without a valid credential, in bytes. */
const UNAUTHENTICATED_BODY = 65_536;

/** Largest body that is not counted, in bytes: 40 MB on 10,000 connections. */
const UNCOUNTED_BODY = 4_096;

/** Bytes of bodies that are on their way, per holder (a credential or a network) and in total. */
export class BodyBudget {
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(
    private readonly most: number,
    private readonly mostOfOne: number,
  ) {}

  /** A lone body of any size is admitted. @throws ApiError 429 or 503, with `Retry-After` */
  take(holder: string, bytes: number): void {
    const held = this.#held.get(holder) ?? 0;
    if (held > 0 && held + bytes > this.mostOfOne)
      throw new ApiError(
        'rate_limited',
        'Too many bytes are being sent with this credential at once; wait for requests under way',
      );
    if (this.#total > 0 && this.#total + bytes > this.most)
      throw new ApiError('unavailable', 'The service receives too many large requests; try again');
    this.#add(holder, bytes);
  }

  release(holder: string, bytes: number): void {
    this.#add(holder, -bytes);
  }

  #add(holder: string, bytes: number): void {
    const held = (this.#held.get(holder) ?? 0) + bytes;
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
    this.#total += bytes;
  }
}

interface LargeBodyOptions {
  readonly budget: BodyBudget;
  /** @returns the id of the valid credential @throws ApiError 401 or 403 */
  readonly recognise: (request: FastifyRequest) => Promise<string>;
  /** Routes that verify callers by the content of requests. */
  readonly isSelfVerified: (route: string | undefined) => boolean;
  /** The size limit of a route, in bytes; `undefined`: that of every route. */
  readonly limitOf: (route: string) => number | undefined;
}

/**
 * Reads a large body only for a valid credential: parsing some megabytes of JSON takes up to 80 ms,
 * and a route's guard runs only after it. Unfinished bodies count towards the budget. Call it
 * before Nest registers its routes.
 */
export function guardLargeBodies(adapter: FastifyAdapter, options: LargeBodyOptions): void {
  const { budget, recognise, isSelfVerified, limitOf } = options;
  const fastify = adapter.getInstance();
  fastify.addHook('onRoute', (route) => {
    const limit = limitOf(route.url);
    if (limit !== undefined) route.bodyLimit = limit;
  });
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { headers, routeOptions } = request;
    const isChunked = headers['transfer-encoding'] !== undefined;
    const length = Number(headers['content-length'] ?? 0);
    if (!isChunked && length <= UNCOUNTED_BODY) return done();
    const isLarge = isChunked || length > UNAUTHENTICATED_BODY;
    if (isLarge && request.is404)
      return done(new ApiError('not_found', 'There is nothing at this path'));
    const holder =
      isLarge && !isSelfVerified(routeOptions.url)
        ? recognise(request)
        : Promise.resolve(networkOf(request.ip));
    holder
      .then((name) => {
        if (isChunked) countChunks(request, budget, name);
        // Fastify refuses longer ones without reading them.
        else if (length <= routeOptions.bodyLimit) hold(request, budget, name, length);
      })
      .then(() => done(), done);
  });
}

function hold({ raw }: FastifyRequest, budget: BodyBudget, holder: string, bytes: number): void {
  budget.take(holder, bytes);
  raw.once('close', () => budget.release(holder, bytes));
}

/** Counts a body of unknown length while it arrives; ends its reading where the budget is used up. */
function countChunks({ raw }: FastifyRequest, budget: BodyBudget, holder: string): void {
  let held = 0;
  const count = (chunk: Buffer): void => {
    try {
      budget.take(holder, chunk.length);
      held += chunk.length;
    } catch (error) {
      raw.off('data', count);
      // The parser of the body listens, and answers with the error.
      raw.emit('error', error);
    }
  };
  // Paused until the parser listens as well.
  raw.pause();
  raw.on('data', count);
  raw.once('close', () => budget.release(holder, held));
}
