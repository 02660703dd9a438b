import type { RateLimiter } from './rate-limiter.js';

/** Most messages that all lanes of a process together prepare. */
const MAX_PREPARED = 32_000;

const MIN_PREPARED = 16;

export const LARGEST_SLICE = 4_000;

/** Interval after which any number of started messages gives the pace, in milliseconds. */
const PACE_INTERVAL = 125;

/**
 * Limits the prepared messages of all lanes of a process. A lane gets at most a quarter of the
 * rest, so that the next lane finds some, and at least `least`, so that no lane waits for another.
 */
export class PrefetchBudget {
  held = 0;

  constructor(
    private readonly most = MAX_PREPARED,
    private readonly least = MIN_PREPARED,
  ) {}

  /** Number of `wanted` messages that may be planned beside `prepared` ones; 0: enough. */
  share(wanted: number, prepared: number): number {
    const part = Math.floor((this.most - this.held) / 4);
    // A whole slice: planning and intending one takes much of the time in which another is sent.
    if (part >= wanted) return prepared <= wanted ? wanted : 0;
    const size = Math.min(wanted, Math.max(this.least, part));
    return prepared <= Math.max(0, size - this.least) ? size : 0;
  }

  hold(messages: number): void {
    this.held += messages;
  }

  release(messages: number): void {
    this.held -= messages;
  }
}

/**
 * Number of messages to plan at once: those that start within about a quarter second. High-priority
 * messages queue behind prepared ones, so a lane without progress prepares no more.
 */
export class SliceSize {
  #messages: number;
  #started = 0;
  #since = 0;

  constructor(
    /** Returns the lane's limiter; a configured rate alone determines the size. */
    private readonly limiter: () => RateLimiter | undefined,
    private readonly concurrency: number,
  ) {
    this.#messages = Math.max(64, concurrency);
  }

  get messages(): number {
    return this.limiter()?.share(LARGEST_SLICE) ?? this.#messages;
  }

  started(messages: number): void {
    this.#started += messages;
  }

  adapt(now: number): void {
    const took = now - this.#since;
    // Plans may follow each other immediately; the few starts between them give no pace.
    if (took < PACE_INTERVAL && this.#started < this.#messages / 2) return;
    const takes = (took * this.#messages) / this.#started;
    if (this.#since > 0 && takes < 125)
      this.#messages = Math.min(LARGEST_SLICE, this.#messages * 2);
    else if (this.#since > 0 && takes > 500)
      this.#messages = Math.max(this.concurrency, this.#messages >> 1);
    this.#since = now;
    this.#started = 0;
  }
}
