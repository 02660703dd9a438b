import type { Lanes } from '../store/verbs/lanes.js';
import type { Clock } from '../ports/clock.js';

/** Ratio of the slot distance to the distance that the limit requires; the margin covers late and grouped starts. */
const MARGIN = 1.02;
/** Share of `per` by which a start may miss its slot, and share of `max` that may start together. */
const SLACK = 0.01;
/** Span of the slots that one query reserves, in milliseconds. */
const RESERVED_SPAN = 100;
/** Wait before the next check while a reservation is under way, in milliseconds. */
const CHECK_INTERVAL = 2;

/**
 * One limit for a provider over all lanes and replicas. Start times are slots reserved in the database, evenly
 * spaced, each for one message of one process. A slot that is not used in time is forfeited, and a group starts at
 * its first slot. Late and early starts therefore never exceed `max` in any window of `per`. Only a resend prepared
 * before the limit was lowered may be larger than a group; it uses up the slots before and after it.
 */
export class ProviderRate {
  readonly #interval: number;
  readonly #late: number;
  readonly #together: number;
  /** Monotonic milliseconds, ascending. */
  #slots: number[] = [];
  #reserving = false;

  constructor(
    private readonly lanes: Pick<Lanes, 'reserve'>,
    private readonly clock: Clock,
    private readonly key: string,
    max: number,
    per: number,
  ) {
    this.#interval = (per * MARGIN) / max;
    this.#late = per * SLACK;
    this.#together = Math.max(1, Math.floor(max * SLACK));
  }

  /** Number of `wanted` messages that one request may carry. */
  share(wanted: number): number {
    return Math.min(wanted, this.#together);
  }

  /** Milliseconds until `n` messages may start together, as far as known; 0 where they may start now. */
  delay(n: number, now: number): number {
    const stale = this.#slots.findIndex((slot) => slot + this.#late >= now);
    if (stale !== 0) this.#slots.splice(0, stale < 0 ? this.#slots.length : stale);
    const [first] = this.#slots;
    if (first !== undefined && this.#slots.length >= this.#need(n)) return Math.max(0, first - now);
    void this.#reserve(this.#need(n));
    return CHECK_INTERVAL;
  }

  /** Records that `n` messages have just started. */
  start(n: number): void {
    this.#slots.splice(0, this.#need(n));
  }

  #need(n: number): number {
    return n > this.#together ? 2 * n : n;
  }

  async #reserve(n: number): Promise<void> {
    if (this.#reserving) return;
    this.#reserving = true;
    try {
      const count = Math.max(n, Math.ceil(RESERVED_SPAN / this.#interval));
      const calledAt = this.clock.monotonic();
      const firstIn = await this.lanes.reserve(this.key, count, this.#interval);
      // The database reads its clock between the call and the answer; the midpoint approximates that time.
      const from = (calledAt + this.clock.monotonic()) / 2 + firstIn;
      for (let slot = 0; slot < count; slot++) this.#slots.push(from + slot * this.#interval);
    } catch {
      // The drain asks again, and nothing starts without a slot.
    } finally {
      this.#reserving = false;
    }
  }
}
