import type { LaneRun } from './lane-run.js';

/** Messages planned at once where nothing limits the rate. */
export const LARGEST_SLICE = 4_000;

/**
 * How many messages of a lane are planned at once: what leaves in about a quarter second. What is
 * urgent goes behind what is ready, so a lane that stands still has no more ready however often it asks.
 */
export class SliceSize {
  #messages: number;
  /** Since the last slice. */
  #left = 0;
  #filledAt = 0;

  constructor(private readonly run: Pick<LaneRun, 'memory' | 'context'>) {
    const { memory, context } = run;
    this.#messages = memory.limiter?.share(LARGEST_SLICE) ?? Math.max(64, context.concurrency);
  }

  get messages(): number {
    return this.#messages;
  }

  /** So many messages are on their way. */
  left(messages: number): void {
    this.#left += messages;
  }

  /** Another slice is planned now. Where a rate is set, that tells. */
  adapt(now: number): void {
    const { memory, context } = this.run;
    if (memory.limiter) return;
    // As fast as those that left since the last.
    const takes = ((now - this.#filledAt) * this.#messages) / this.#left;
    if (this.#filledAt > 0 && takes < 125)
      this.#messages = Math.min(LARGEST_SLICE, this.#messages * 2);
    else if (this.#filledAt > 0 && takes > 500)
      this.#messages = Math.max(context.concurrency, this.#messages >> 1);
    this.#filledAt = now;
    this.#left = 0;
  }
}
