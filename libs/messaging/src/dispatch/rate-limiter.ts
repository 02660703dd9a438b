/**
 * Margin of the pace below the limit, so that a few milliseconds of network jitter do not push a window at the
 * receiver over the limit.
 */
const PACE_MARGIN = 1.005;
/**
 * Margin of the ring. It is smaller than that of the pace, so that starts bunched by a stall spread out over the
 * following windows.
 */
const RING_MARGIN = 1.002;
/** Longest idle time that the limiter catches up with, in milliseconds. */
const BURST = 100;
/**
 * Longest delay of a waiting caller (late timer, busy event loop) that the limiter catches up with, in milliseconds;
 * the ring keeps the limit.
 */
const MAX_CALLER_DELAY = 500;
/** Start times kept exactly; a larger `max` is kept in groups, each counted as if it started with its latest member. */
const RING_SIZE = 8_192;

/** Saved state that {@link RateLimiter.restore} reads as a full window. */
const FULL_WINDOW = '"held"';

/**
 * At most `max` starts in *any* window of `per` milliseconds: starts are paced evenly, and a ring of the last start
 * times refuses starts that pacing alone would allow after a late timer.
 */
export class RateLimiter {
  readonly #interval: number;
  readonly #window: number;
  /** Latest start of each group of `#group` starts, oldest overwritten first. */
  readonly #ring: Float64Array;
  readonly #group: number;
  #count = 0;
  /** Starts in the group being filled. */
  #filled = 0;
  /** Time at which the pace allows the next start. */
  #pace = Number.NEGATIVE_INFINITY;
  #lastStart = Number.NEGATIVE_INFINITY;
  /** Scheduled start of the waiting caller, if any. */
  #scheduled: number | undefined;
  #heldUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly max: number,
    per: number,
  ) {
    this.#interval = (per * PACE_MARGIN) / max;
    this.#window = per * RING_MARGIN;
    this.#group = Math.ceil(max / RING_SIZE);
    this.#ring = new Float64Array(Math.max(1, Math.floor(max / this.#group))).fill(
      Number.NEGATIVE_INFINITY,
    );
  }

  /** Number of `wanted` messages that one request may carry: those of a quarter second. */
  share(wanted: number): number {
    const most = Math.max(1, Math.floor(Math.min(this.max, 250 / this.#interval)));
    return Math.min(wanted, most);
  }

  /** Milliseconds until `n` more messages may start together. */
  delay(n: number, now: number): number {
    const wait = Math.max(0, this.#pace - now, this.#oldest(n) + this.#window - now);
    if (wait > 0) this.#scheduled = now + wait;
    return wait;
  }

  /** Records that `n` messages have just started. */
  start(n: number, now: number): void {
    this.#pace = Math.max(this.#pace, now - this.#slack(now)) + n * this.#interval;
    this.#lastStart = now;
    this.#scheduled = undefined;
    for (let i = 0; i < n; i++) {
      if (this.#filled === 0) this.#count++;
      this.#ring[(this.#count - 1) % this.#ring.length] = now;
      this.#filled = (this.#filled + 1) % this.#group;
    }
  }

  /** Holds all starts until `until`: another process may have used the window up to then. */
  holdUntil(until: number): void {
    this.#pace = Math.max(this.#pace, until);
    this.#heldUntil = Math.max(this.#heldUntil, until);
  }

  /** Starts of the last window as `[milliseconds ago, number]`, for the lane's next holder. */
  save(now: number): string {
    // The individual starts of the former holder are unknown, so the next holder waits, too.
    if (this.#heldUntil > now) return FULL_WINDOW;
    const recent = new Map<number, number>();
    for (const at of this.#ring) {
      const ago = Math.floor(now - at);
      if (ago <= this.#window) recent.set(ago, (recent.get(ago) ?? 0) + this.#group);
    }
    return JSON.stringify([...recent].sort(([a], [b]) => b - a));
  }

  /** Takes over what {@link save} returned; an unreadable state counts as a full window. */
  restore(state: string, now: number): void {
    const starts = startsOf(state);
    if (!starts) return this.holdUntil(now + this.#window);
    for (const [ago, n] of starts) this.start(Math.min(n, this.max), now - ago);
  }

  /** Longest lag of the pace. A waiting caller proves that there was demand. */
  #slack(now: number): number {
    if (this.#scheduled !== undefined)
      return now - this.#scheduled <= MAX_CALLER_DELAY ? MAX_CALLER_DELAY : BURST;
    return now - this.#lastStart <= BURST ? Math.max(BURST, this.#lastStart - this.#pace) : BURST;
  }

  /** Time of the start that must leave the window before `n` more starts fit in it. */
  #oldest(n: number): number {
    const slots = Math.ceil((n + this.#filled) / this.#group) - (this.#filled > 0 ? 1 : 0);
    if (slots <= 0) return Number.NEGATIVE_INFINITY;
    const size = this.#ring.length;
    const slot = this.#count + Math.min(slots, size) - 1 - size;
    return slot < 0 ? Number.NEGATIVE_INFINITY : (this.#ring[slot % size] as number);
  }
}

function startsOf(state: string): [number, number][] | undefined {
  try {
    const starts: unknown = JSON.parse(state);
    return Array.isArray(starts) && starts.every(isStart) ? starts : undefined;
  } catch {
    return undefined;
  }
}

function isStart(entry: unknown): entry is [number, number] {
  return (
    Array.isArray(entry) && entry.length === 2 && entry.every((n) => Number.isFinite(n) && n >= 0)
  );
}
