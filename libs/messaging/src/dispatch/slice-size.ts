import type { LaneRun } from './lane-run.js';

/** Messages planned at once where nothing limits the rate. */
export const LARGEST_SLICE = 4_000;

/** In so many milliseconds what has left tells the pace, however little. */
const LONG_ENOUGH = 125;

/**
 * How many messages of a lane are planned at once: what leaves in about a quarter second. What is
 * urgent goes behind what is ready, so a lane that stands still has no more ready however often it asks.
 */
export class SliceSize {
  #messages: number;
  /** Messages that left, */
  #left = 0;
  /** and since when. */
  #since = 0;

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
    const took = now - this.#since;
    // Slices are planned two at once, too: what left between those tells nothing.
    if (took < LONG_ENOUGH && this.#left < this.#messages / 2) return;
    const takes = (took * this.#messages) / this.#left;
    if (this.#since > 0 && takes < 125)
      this.#messages = Math.min(LARGEST_SLICE, this.#messages * 2);
    else if (this.#since > 0 && takes > 500)
      this.#messages = Math.max(context.concurrency, this.#messages >> 1);
    this.#since = now;
    this.#left = 0;
  }
}
