import type { RateLimiter } from './rate-limiter.js';

/** Most messages that all lanes of a process together prepare. */
const MAX_PREPARED = 32_000;

const MIN_PREPARED = 16;

export const LARGEST_SLICE = 4_000;

/** Shortest and longest time in which a slice of the right size starts, in milliseconds. */
const SHORTEST = 125;
const LONGEST = 500;

/**
 * Limits the prepared messages of all lanes of a process. A lane gets at most a quarter of the
 * rest, so that the next lane finds some, and at least `least`, so that no lane waits for another.
 */
export class PrefetchBudget {
  reserved = 0;

  constructor(
    private readonly most = MAX_PREPARED,
    private readonly least = MIN_PREPARED,
  ) {}

  /** Number of `wanted` messages that may be planned beside `prepared` ones; 0: enough. */
  share(wanted: number, prepared: number): number {
    const part = Math.floor((this.most - this.reserved) / 4);
    const size = Math.min(wanted, Math.max(this.least, part));
    // A whole slice ahead: planning one takes much of the time in which another is sent.
    const ahead = part >= wanted ? size : Math.max(0, size - this.least);
    return prepared <= ahead ? size : 0;
  }

  /** @param messages negative: releases them */
  reserve(messages: number): void {
    this.reserved += messages;
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
    if (took < SHORTEST && this.#started < this.#messages / 2) return;
    const takes = this.#since > 0 ? (took * this.#messages) / this.#started : SHORTEST;
    if (takes < SHORTEST) this.#messages = Math.min(LARGEST_SLICE, this.#messages * 2);
    else if (takes > LONGEST) this.#messages = Math.max(this.concurrency, this.#messages >> 1);
    this.#since = now;
    this.#started = 0;
  }
}
