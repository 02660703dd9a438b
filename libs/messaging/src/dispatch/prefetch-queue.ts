import type { RateLimiter } from './rate-limiter.js';
import type { PreparedSubmission } from './submissions.js';

/** Messages that all lanes of a process together may have prepared. */
const MOST = 32_000;

/** Messages that a lane with nothing prepared may always take. */
const LEAST = 16;

/** Most messages planned at once. */
export const LARGEST_SLICE = 4_000;

/** Milliseconds over which the messages that left tell the pace, however few they are. */
const LONG_ENOUGH = 125;

/**
 * Limits the prepared messages of all lanes of a process. A lane that wants more gets a quarter of what is
 * left, so that the next lane finds some, and its least where nothing is left: no lane waits for another.
 * Together they hold at most `most`, and `least` for each lane.
 */
export class PrefetchBudget {
  #held = 0;

  constructor(
    private readonly most = MOST,
    private readonly least = LEAST,
  ) {}

  /** Messages prepared, or about to be. */
  get held(): number {
    return this.#held;
  }

  /** How many of `wanted` messages a lane with `prepared` ones may plan now; 0: it has enough. */
  share(wanted: number, prepared: number): number {
    const part = Math.floor((this.most - this.#held) / 4);
    // A whole slice is kept ahead: planning and intending one takes a good part of the time another needs to leave.
    if (part >= wanted) return prepared <= wanted ? wanted : 0;
    const size = Math.min(wanted, Math.max(this.least, part));
    return prepared <= Math.max(0, size - this.least) ? size : 0;
  }

  hold(messages: number): void {
    this.#held += messages;
  }

  release(messages: number): void {
    this.#held -= messages;
  }
}

/** Prepared submissions of a lane in order; their messages count against the budget. */
export class PrefetchQueue {
  #items: PreparedSubmission[] = [];
  /** A submission carries one message or many. */
  #messages = 0;

  constructor(private readonly budget: PrefetchBudget) {}

  get next(): PreparedSubmission | undefined {
    return this.#items[0];
  }

  get length(): number {
    return this.#items.length;
  }

  get messages(): number {
    return this.#messages;
  }

  get items(): readonly PreparedSubmission[] {
    return this.#items;
  }

  push(item: PreparedSubmission): void {
    this.#items.push(item);
    this.#hold(item.positions.length);
  }

  unshift(items: readonly PreparedSubmission[]): void {
    this.#items.unshift(...items);
    for (const { positions } of items) this.#hold(positions.length);
  }

  shift(): PreparedSubmission | undefined {
    const item = this.#items.shift();
    if (item) this.#hold(-item.positions.length);
    return item;
  }

  /** Takes out the items for which `wanted` answers true. */
  remove(wanted: (item: PreparedSubmission) => boolean): PreparedSubmission[] {
    const removed = this.#items.filter(wanted);
    if (removed.length === 0) return removed;
    this.#items = this.#items.filter((item) => !wanted(item));
    for (const { positions } of removed) this.#hold(-positions.length);
    return removed;
  }

  #hold(messages: number): void {
    this.#messages += messages;
    this.budget.hold(messages);
  }
}

/**
 * How many messages of a lane are planned at once: those that leave in about a quarter second. High-priority
 * messages go behind what is prepared, so a lane that stands still prepares no more however often it plans.
 */
export class SliceSize {
  #messages: number;
  /** Messages that left since `#since`. */
  #left = 0;
  #since = 0;

  constructor(
    private readonly limiter: RateLimiter | undefined,
    private readonly concurrency: number,
  ) {
    this.#messages = limiter?.share(LARGEST_SLICE) ?? Math.max(64, concurrency);
  }

  get messages(): number {
    return this.#messages;
  }

  /** `messages` have started. */
  left(messages: number): void {
    this.#left += messages;
  }

  /** Adapts the size before another plan; a configured rate decides it alone. */
  adapt(now: number): void {
    if (this.limiter) return;
    const took = now - this.#since;
    // Two plans may follow each other at once: what left between them tells nothing.
    if (took < LONG_ENOUGH && this.#left < this.#messages / 2) return;
    const takes = (took * this.#messages) / this.#left;
    if (this.#since > 0 && takes < 125)
      this.#messages = Math.min(LARGEST_SLICE, this.#messages * 2);
    else if (this.#since > 0 && takes > 500)
      this.#messages = Math.max(this.concurrency, this.#messages >> 1);
    this.#since = now;
    this.#left = 0;
  }
}
