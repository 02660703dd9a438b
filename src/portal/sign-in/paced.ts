import type { FastifyInstance } from 'fastify';
import { networksOf } from '../../accounts/limits.js';
import { ApiError } from '../../http/api-error.js';
import { FairQueue } from '../../secrets/fair-queue.js';
import { tooManySignIns } from '../../secrets/password-hash.js';
import { PORTAL_PATH } from '../portal-request.js';

/** Milliseconds between two works. */
const PAUSE = 5;

/** Most that wait for their turn, about five seconds. */
const MOST_WAITING = 1_000;

/**
 * Begins works with a pause between two; networks take turns. The event loop accepts one connection a turn:
 * where each of a thousand that arrive at once were answered in its turn, all others would wait for them.
 */
export class Paced {
  readonly #waiting = new FairQueue<(isTurn: boolean) => void>(MOST_WAITING);
  #isPausing = false;

  /** @param refusal where too many wait */
  constructor(private readonly refusal: () => ApiError) {}

  /** @throws ApiError the refusal, where most of those that wait are of the network */
  async run<T>(ip: string, work: () => Promise<T>): Promise<T> {
    if (!this.#isPausing) this.#pause();
    else if (!(await this.#turnOf(ip))) throw this.refusal();
    return work();
  }

  #turnOf(ip: string): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push(['reads', ...networksOf(ip)], resolve)?.(false);
    });
  }

  #pause(): void {
    this.#isPausing = true;
    setTimeout(() => {
      this.#isPausing = false;
      const next = this.#waiting.shift();
      if (!next) return;
      this.#pause();
      next(true);
    }, PAUSE);
  }
}

export function tooManyPages(): ApiError {
  return new ApiError('unavailable', 'Too many pages are open; this one polls');
}

/**
 * Handles sign-ins one after the other from their headers on: their bodies, too, are read in turns. Streams of
 * pages open in turns as well.
 */
export function paceBursts(fastify: FastifyInstance): void {
  const paced = new Map([
    [`POST /${PORTAL_PATH}/api/session`, new Paced(tooManySignIns)],
    [`GET /${PORTAL_PATH}/api/live`, new Paced(tooManyPages)],
  ]);
  fastify.addHook('onRequest', ({ method, ip, routeOptions }, _reply, done) => {
    const own = paced.get(`${method} ${routeOptions.url}`);
    if (!own) return done();
    own.run(ip, () => Promise.resolve()).then(() => done(), done);
  });
}
