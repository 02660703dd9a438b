import { doubledWait } from '../../message/doubled-wait.js';
import { DatabaseShutdownTimeoutError } from '../../message/errors.js';
import { isStatementLost, isTransient, isUnavailable } from './database-errors.js';

const ATTEMPTS = 10;

/** Retries work that the server rolled back for a deadlock or a serialisation failure. */
export async function retryTransient<T>(
  work: () => Promise<T>,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const again = isTransient(error) || isStatementLost(error);
      if (attempt >= ATTEMPTS || isFinal(error) || !again) throw error;
      const wait = doubledWait(5, attempt, Infinity, [0, 1]);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** Milliseconds between attempts while the database is unavailable: long enough for a restart. */
const WAITS = [50, 100, 200, 400, 800, 1_600, 2_000];

/** Retries repeatable work while the database is unavailable, for about five seconds. */
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
