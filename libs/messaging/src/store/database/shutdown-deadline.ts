import { Logger } from '@nestjs/common';
import { DatabaseShutdownTimeoutError } from '../../message/errors.js';

/** Milliseconds for each answer of the database after the shutdown deadline. */
const ANSWER_TIMEOUT = 1_000;

const CHECK_EVERY = ANSWER_TIMEOUT / 4;

/**
 * Bounds the store's waits for the database during shutdown: after the deadline, the first answer
 * that takes more than a second abandons the database, and all waiting and later calls fail.
 */
export class ShutdownDeadline {
  readonly #logger = new Logger('StoreDatabase');
  readonly #over = new AbortController();
  /** Start times of waiting calls by their reject functions, oldest first. */
  readonly #waiting = new Map<(error: unknown) => void, number>();
  #timer: NodeJS.Timeout | undefined;
  /** Time of the deadline, and time of the last check. */
  #from = 0;
  #checkedAt = 0;
  #wasBlocked = false;
  #closed = false;

  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** @throws DatabaseShutdownTimeoutError after the database was abandoned */
  async wait<T>(work: () => Promise<T>): Promise<T> {
    this.over.throwIfAborted();
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(reject, performance.now());
      work()
        .then(resolve, reject)
        .finally(() => this.#waiting.delete(reject));
    });
  }

  set(milliseconds: number): void {
    clearInterval(this.#timer);
    this.#timer = setTimeout(() => {
      this.#from = this.#checkedAt = performance.now();
      this.#timer = setInterval(() => this.#check(), CHECK_EVERY).unref();
    }, milliseconds).unref();
  }

  /** The checks end once no call waits. */
  close(): void {
    this.#closed = true;
  }

  #check(): void {
    const now = performance.now();
    // Answers that arrived while the process was blocked have not been read yet.
    if (!this.#wasBlocked && now - this.#checkedAt > ANSWER_TIMEOUT / 2) {
      this.#wasBlocked = true;
      this.#from = now;
    }
    this.#checkedAt = now;
    const [oldest = Infinity] = this.#waiting.values();
    if (now - Math.max(oldest, this.#from) >= ANSWER_TIMEOUT) this.#abandon();
    else if (this.#closed && this.#waiting.size === 0) clearInterval(this.#timer);
  }

  #abandon(): void {
    clearInterval(this.#timer);
    this.#logger.error(
      `The app stops and its database does not answer: given up, with ${this.#waiting.size} statements and transactions under way. The next holder of each lane recovers their work after its lease expires`,
    );
    this.#over.abort(new DatabaseShutdownTimeoutError());
    for (const reject of this.#waiting.keys()) reject(this.over.reason);
  }
}
