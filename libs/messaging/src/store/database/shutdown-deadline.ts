import { Logger } from '@nestjs/common';
import { DatabaseShutdownTimeoutError } from '../../message/errors.js';

/** Milliseconds the database has for each answer once the time to stop is over. */
const LAST_WORD = 1_000;

/** How many times as long those beside the store are freed after it was closed: the data source may outlive the app. */
const AFTER_CLOSE = 5;

/**
 * How long the store waits for the database: as long as it takes, until the app stops. When its time is
 * over each answer has a second more, and the first that is owed then gives the database up: whatever
 * waits fails, and so does what comes after.
 */
export class ShutdownDeadline {
  readonly #logger = new Logger('StoreDatabase');
  readonly #over = new AbortController();
  /** What waits, and since when, oldest first. */
  readonly #waiting = new Map<(error: unknown) => void, number>();
  #timer: NodeJS.Timeout | undefined;
  /** From when on the last word counts, and when it was looked at. */
  #from = 0;
  #lookedAt = 0;
  #stoodStill = false;
  #closedAt = Infinity;

  constructor(
    /** Frees those who wait for the database beside the store; false: there is nobody left. */
    private readonly cut: () => boolean,
    private readonly lastWord = LAST_WORD,
    /** It answers by itself, also while the process stands still. SQLite is what that stands still for. */
    private readonly isServer: () => boolean = () => true,
  ) {}

  /** Aborted with what everybody who waited was told. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** @throws DatabaseShutdownTimeoutError once the database was given up */
  async wait<T>(work: () => Promise<T>): Promise<T> {
    this.over.throwIfAborted();
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(reject, performance.now());
      work().then(
        (result) => {
          this.#waiting.delete(reject);
          resolve(result);
        },
        (error: unknown) => {
          this.#waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  /** The time to stop is over in so many milliseconds. */
  hurry(milliseconds: number): void {
    clearInterval(this.#timer);
    this.#timer = setTimeout(() => {
      this.#from = this.#lookedAt = performance.now();
      this.#timer = setInterval(() => this.#look(), this.lastWord / 4).unref();
    }, milliseconds).unref();
  }

  /** Nothing new is asked: what waits still has its time. */
  close(): void {
    this.#closedAt = performance.now();
    this.#end();
  }

  #look(): void {
    const now = performance.now();
    // What was answered while the process stood still is still to be read.
    if (!this.#stoodStill && this.isServer() && now - this.#lookedAt > this.lastWord / 2) {
      this.#stoodStill = true;
      this.#from = now;
    }
    this.#lookedAt = now;
    if (!this.over.aborted) {
      const [oldest = Infinity] = this.#waiting.values();
      if (now - Math.max(oldest, this.#from) < this.lastWord) return this.#end();
      this.#giveUp();
    }
    // Who connects after that waits in vain, too.
    const lasts = now - this.#closedAt < AFTER_CLOSE * this.lastWord;
    if (!this.cut() || !lasts) clearInterval(this.#timer);
  }

  #end(): void {
    const closed = this.#closedAt < Infinity;
    if (closed && !this.over.aborted && this.#waiting.size === 0) clearInterval(this.#timer);
  }

  #giveUp(): void {
    const waiting = [...this.#waiting.keys()];
    this.#waiting.clear();
    this.#logger.error(
      `The app stops and its database does not answer: given up, with ${waiting.length} statements and transactions under way. What they would have recorded is found again, and the lanes are free once their leases have expired`,
    );
    this.#over.abort(new DatabaseShutdownTimeoutError());
    for (const reject of waiting) reject(this.over.reason);
  }
}
