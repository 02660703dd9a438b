import { Logger } from '@nestjs/common';
import { DatabaseShutdownTimeoutError } from '../../message/errors.js';

/** Milliseconds for each answer of the database after the shutdown deadline. */
const ANSWER_TIMEOUT = 1_000;

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
  #checkedAt = 0;
  #wasBlocked = false;
  #closedAt = Infinity;

  constructor(
    /** Cuts connections that other code uses; false: there are none left. */
    private readonly cut: () => boolean,
    private readonly answerTimeout = ANSWER_TIMEOUT,
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
  set(milliseconds: number): void {
    clearInterval(this.#timer);
    this.#timer = setTimeout(() => {
      this.#from = this.#checkedAt = performance.now();
      this.#timer = setInterval(() => this.#check(), this.answerTimeout / 4).unref();
    }, milliseconds).unref();
  }

  /** No new calls follow; waiting calls keep their time. */
  close(): void {
    this.#closedAt = performance.now();
    this.#end();
  }

  #check(): void {
    const now = performance.now();
    // Answers that arrived while the process was blocked have not been read yet.
    if (!this.#wasBlocked && this.isServer() && now - this.#checkedAt > this.answerTimeout / 2) {
      this.#wasBlocked = true;
      this.#from = now;
    }
    this.#checkedAt = now;
    if (!this.over.aborted) {
      const [oldest = Infinity] = this.#waiting.values();
      if (now - Math.max(oldest, this.#from) < this.answerTimeout) return this.#end();
      this.#abandon();
    }
    // Connections that open later would wait without end, so they are cut, too.
    const isRecent = now - this.#closedAt < AFTER_CLOSE * this.answerTimeout;
    if (!this.cut() || !isRecent) clearInterval(this.#timer);
  }

  #end(): void {
    const closed = this.#closedAt < Infinity;
    if (closed && !this.over.aborted && this.#waiting.size === 0) clearInterval(this.#timer);
  }

  #abandon(): void {
    const waiting = [...this.#waiting.keys()];
    this.#waiting.clear();
    this.#logger.error(
      `The app stops and its database does not answer: given up, with ${waiting.length} statements and transactions under way. The next holder of each lane recovers their work after its lease expires`,
    );
    this.#over.abort(new DatabaseShutdownTimeoutError());
    for (const reject of waiting) reject(this.over.reason);
  }
}
