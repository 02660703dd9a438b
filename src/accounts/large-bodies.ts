import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../http/api-error.js';
import { freeBuffer } from '../http/read-body.js';
import { readInTurns } from '../http/pipeline.js';
import { networkOf } from './limits.js';

/** Largest body that is read without a valid credential, in bytes. */
const UNAUTHENTICATED_BODY = 65_536;

/** Largest body that is not counted, in bytes: 40 MB on 10,000 connections. */
const UNCOUNTED_BODY = 4_096;

/** Bytes of bodies that are on their way, per holder (a credential or a network) and in total. */
export class BodyBudget {
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(
    private readonly most: number,
    private readonly mostOfOne: number,
  ) {}

  /** A lone body of any size is admitted. @throws ApiError 429 or 503, with `Retry-After` */
  take(holder: string, bytes: number): void {
    const taken = this.#taken.get(holder) ?? 0;
    if (taken > 0 && taken + bytes > this.mostOfOne)
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
    const taken = (this.#taken.get(holder) ?? 0) + bytes;
    if (taken > 0) this.#taken.set(holder, taken);
    else this.#taken.delete(holder);
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
  fastify.addHook('onRequest', (request, reply, done) => {
    const { isChunked, length, isLarge } = bodyOf(request.headers);
    if (!isChunked && length <= UNCOUNTED_BODY) return done();
    // Fastify makes a new object for each request.
    const { routeOptions } = request;
    if (isLarge && request.is404) return done(new ApiError('not_found', 'No such route'));
    const holder =
      isLarge && !isSelfVerified(routeOptions.url)
        ? recognise(request)
        : Promise.resolve(networkOf(request.ip));
    holder
      .then((name) => {
        const count = countOf(name, reply);
        if (isLarge) readInTurns(request.raw);
        if (isChunked) countChunks(request, count);
        // Fastify refuses longer ones without reading them.
        else if (length <= routeOptions.bodyLimit) count(length);
      })
      .then(() => done(), done);
  });

  // The bytes of a refused body are freed, and the rest of it is not read.
  fastify.addHook('onSend', ({ raw, headers }, reply, _payload, done) => {
    if (!raw.complete && bodyOf(headers).isLarge) {
      reply.header('connection', 'close');
      raw.removeAllListeners('data');
      const part = raw.read() as Buffer | null;
      if (part) freeBuffer(part);
    }
    done();
  });

  /**
   * Takes bytes for a request, until it is answered or its client is gone. The request itself is not
   * closed where it is answered before its body has arrived.
   */
  function countOf(holder: string, { raw }: FastifyReply): (bytes: number) => void {
    if (raw.closed) throw new ApiError('malformed_request', 'The client disconnected');
    let taken = 0;
    raw.once('close', () => budget.release(holder, taken));
    return (bytes) => {
      // Bytes that arrive after the answer are not kept.
      if (raw.closed) return;
      budget.take(holder, bytes);
      taken += bytes;
    };
  }
}

function bodyOf(headers: FastifyRequest['headers']) {
  const isChunked = headers['transfer-encoding'] !== undefined;
  const length = Number(headers['content-length'] ?? 0);
  return { isChunked, length, isLarge: isChunked || length > UNAUTHENTICATED_BODY };
}

/** Counts a body of unknown length while it arrives; ends its reading where the budget is used up. */
function countChunks({ raw }: FastifyRequest, count: (bytes: number) => void): void {
  const countChunk = (chunk: Buffer): void => {
    try {
      count(chunk.length);
    } catch (error) {
      raw.off('data', countChunk);
      // The parser of the body listens, and answers with the error.
      raw.emit('error', error);
    }
  };
  raw.on('data', countChunk);
}
