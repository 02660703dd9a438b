import { Logger } from '@nestjs/common';
import { DatabaseShutdownTimeoutError } from '../../message/errors.js';

/** Milliseconds for each answer of the database after the shutdown deadline. */
const LAST_WORD = 1_000;

/**
 * Period after the close in which connections are still cut, as a multiple of the time for an
 * answer: the data source may outlive the app.
 */
const AFTER_CLOSE = 5;

/**
 * Bounds the store's waits for the database during shutdown. Until the app stops they are
 * unbounded. After the deadline the database has one more second for each answer; the first overdue
 * answer abandons the database: all waiting calls fail, and so do later ones.
 */
export class ShutdownDeadline {
  readonly #logger = new Logger('StoreDatabase');
  readonly #over = new AbortController();
  /** Reject functions of waiting calls with their start times, oldest first. */
  readonly #waiting = new Map<(error: unknown) => void, number>();
  #timer: NodeJS.Timeout | undefined;
  /** Time of the deadline, and time of the last check. */
  #from = 0;
  #lookedAt = 0;
  #stoodStill = false;
  #closedAt = Infinity;

  constructor(
    /** Cuts connections that other code uses; false: there are none left. */
    private readonly cut: () => boolean,
    private readonly lastWord = LAST_WORD,
    /**
     * Whether the database is a server, which answers even while this process is blocked. SQLite
     * itself blocks the process.
     */
    private readonly isServer: () => boolean = () => true,
  ) {}

  /** Aborted with the error of the waiting calls. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** @throws DatabaseShutdownTimeoutError after the database was abandoned */
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

  /** Sets the deadline, in milliseconds from now. */
  hurry(milliseconds: number): void {
    clearInterval(this.#timer);
    this.#timer = setTimeout(() => {
      this.#from = this.#lookedAt = performance.now();
      this.#timer = setInterval(() => this.#look(), this.lastWord / 4).unref();
    }, milliseconds).unref();
  }

  /** No new calls follow; waiting calls keep their time. */
  close(): void {
    this.#closedAt = performance.now();
    this.#end();
  }

  #look(): void {
    const now = performance.now();
    // Answers that arrived while the process was blocked have not been read yet.
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
    // Connections that open later would wait without end, so they are cut, too.
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
