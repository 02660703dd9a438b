import { DatabaseShutdownTimeoutError } from '../message/errors.js';
import { isUnavailable } from './database-errors.js';

/** Milliseconds between tries while the database is away: a restart is sat out, an outage is told. */
const WAITS = [50, 100, 200, 400, 800, 1_600, 2_000];

/** What may be done again, done again while the database is away, for some five seconds. */
export async function retryWhileUnavailable<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const wait = WAITS[tries];
      const passes = isUnavailable(error) && !(error instanceof DatabaseShutdownTimeoutError);
      if (wait === undefined || !passes) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}
