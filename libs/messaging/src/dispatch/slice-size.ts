import type { LaneRun } from './lane-run.js';

/** Messages planned at once where nothing limits the rate. */
export const LARGEST_SLICE = 4_000;

/** How many messages of a lane are planned at once: what leaves in about a quarter second. */
export class SliceSize {
  #messages: number;
  #filledAt = 0;

  constructor(private readonly run: LaneRun) {
    const { memory, context } = run;
    this.#messages = memory.limiter?.share(LARGEST_SLICE) ?? Math.max(64, context.concurrency);
  }

  get messages(): number {
    return this.#messages;
  }

  /** Another slice is planned now. Where a rate is set, that tells. */
  adapt(now: number): void {
    const { memory, context } = this.run;
    if (memory.limiter) return;
    const took = now - this.#filledAt;
    if (this.#filledAt > 0 && took < 125)
      this.#messages = Math.min(LARGEST_SLICE, this.#messages * 2);
    else if (this.#filledAt > 0 && took > 500)
      this.#messages = Math.max(context.concurrency, this.#messages >> 1);
    this.#filledAt = now;
  }
}
