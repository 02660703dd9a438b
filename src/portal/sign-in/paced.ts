import type { FastifyInstance } from 'fastify';
import { networksOf } from '../../accounts/limits.js';
import { FairQueue } from '../../secrets/fair-queue.js';
import { tooManySignIns } from '../../secrets/password-hash.js';
import { PORTAL_PATH } from '../portal-request.js';

const SIGN_IN = `/${PORTAL_PATH}/api/session`;

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

  /** @throws ApiError 503 where too many wait, and most of them are of the network */
  async run<T>(ip: string, work: () => Promise<T>): Promise<T> {
    if (!this.#isPausing) this.#pause();
    else if (!(await this.#turnOf(ip))) throw tooManySignIns();
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

/** Handles sign-ins one after the other from their headers on: their bodies, too, are read in turns. */
export function paceSignIns(fastify: FastifyInstance): void {
  const paced = new Paced();
  fastify.addHook('onRequest', ({ method, ip, routeOptions }, _reply, done) => {
    if (method !== 'POST' || routeOptions.url !== SIGN_IN) return done();
    paced.run(ip, () => Promise.resolve()).then(() => done(), done);
  });
}
