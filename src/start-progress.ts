import { isUnavailable } from '@dundun/messaging/queue';
import { Logger } from '@nestjs/common';
import { setTimeout as wait } from 'node:timers/promises';

/** Longest time, in ms, of a start without progress. */
const LIMIT = 30_000;

/** Time, in ms, between two looks at the progress; more between them is a stall of the process. */
const TICK = 250;

/** Time, in ms, between two tries to reach the database. */
const PAUSE = 500;

/** What a start does, in this order. */
const STEPS = {
  database: 'opening the database',
  modules: 'making the modules, which read the database',
  services: 'starting the modules, which read the database',
  listener: 'opening the port',
  account: 'making the first account',
  ready: 'reading what holds the lanes',
} as const;

/** A start that came to no end in its time. */
export class StalledStartError extends Error {
  override readonly name = 'StalledStartError';

  constructor(step: string, limit: number) {
    super(
      `Dundun cannot start: no progress for ${limit / 1_000} s while ${step}; the database does not answer, or another session locks what the start needs; look at its sessions, and start again`,
    );
  }
}

/** Notices whether a start still makes progress. */
export class StartProgress {
  #step: keyof typeof STEPS = 'database';
  #idle = 0;
  #hasEnded = false;

  /**
   * A step begins. That it is reached again, after the database was away, is no progress.
   * @throws StalledStartError where the start has been given up
   */
  reach(step: keyof typeof STEPS): void {
    if (this.#hasEnded) throw new StalledStartError(STEPS[step], this.limit);
    const steps = Object.keys(STEPS);
    if (steps.indexOf(step) <= steps.indexOf(this.#step)) return;
    this.#step = step;
    this.#idle = 0;
  }

  /** A migration goes on. */
  readonly goOn = (): void => void (this.#idle = 0);

  private constructor(readonly limit: number) {}

  /**
   * Runs a start, again while the database is unreachable or restarts. It ends at the latest after
   * `limit` ms without progress; time in which the whole process stands still does not count.
   * @throws StalledStartError, or the error of the last try
   */
  static async of<T>(start: (progress: StartProgress) => Promise<T>, limit = LIMIT): Promise<T> {
    const progress = new StartProgress(limit);
    let failure: unknown;
    const tries = async (): Promise<T> => {
      for (;;) {
        try {
          return await start(progress);
        } catch (error) {
          if (!isAway(error) || progress.#hasEnded) throw error;
          if (failure === undefined)
            new Logger('Start').warn({
              message: 'the database is not reachable; trying again',
              ms: limit,
              err: error,
            });
          failure = error;
          await wait(PAUSE);
        }
      }
    };
    let timer: NodeJS.Timeout | undefined;
    const stalled = new Promise<never>((_, reject) => {
      let last = performance.now();
      timer = setInterval(() => {
        const now = performance.now();
        progress.#idle += Math.min(now - last, 4 * TICK);
        last = now;
        if (progress.#idle <= limit) return;
        progress.#hasEnded = true;
        reject(failure ?? new StalledStartError(STEPS[progress.#step], limit));
      }, TICK);
    });
    try {
      return await Promise.race([tries(), stalled]);
    } finally {
      clearInterval(timer);
    }
  }
}

/** A server that may come back by itself; a wrong path of a SQLite file does not. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code?.startsWith('SQLITE_')) return false;
  const isNameUnknown = code === 'EAI_AGAIN' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH';
  return isNameUnknown || isUnavailable(error) || isAway(error.cause);
}
