/** Margin of the pace, so that network jitter pushes no window at the receiver over the limit. */
const PACE_MARGIN = 1.005;
/** Margin of the window: smaller, so that starts bunched by a stall spread out again. */
const WINDOW_MARGIN = 1.002;
/** Longest idle time that the limiter catches up with, in milliseconds. */
const BURST = 100;
/** Longest delay of a waiting caller (late timer, busy event loop) to catch up with, in ms. */
const MAX_CALLER_DELAY = 500;
/** Share of the window in which starts are counted together, as if at the latest of them. */
const GRAIN = 0.001;

/** Saved state that {@link RateLimiter.restore} reads as a full window. */
const FULL_WINDOW = '"held"';

/** Starts that are counted together. Monotonic milliseconds. */
interface Starts {
  readonly first: number;
  latest: number;
  n: number;
}

/**
 * At most `max` starts in *any* window of `per` milliseconds: starts are paced evenly, and the
 * count of the last window refuses starts that pacing alone would allow after a late timer.
 */
export class RateLimiter {
  readonly #interval: number;
  readonly #window: number;
  #starts: Starts[] = [];
  #count = 0;
  /** Time at which the pace allows the next start. */
  #pace = -Infinity;
  #lastStart = -Infinity;
  /** Scheduled start of the waiting caller, if any. */
  #scheduled: number | undefined;
  #heldUntil = -Infinity;

  constructor(
    readonly max: number,
    readonly per: number,
  ) {
    this.#interval = (per * PACE_MARGIN) / max;
    this.#window = per * WINDOW_MARGIN;
  }

  /** Number of `wanted` messages that one request may carry: those of a quarter second. */
  share(wanted: number): number {
    const most = Math.max(1, Math.floor(Math.min(this.max, 250 / this.#interval)));
    return Math.min(wanted, most);
  }

  /** Milliseconds until `n` more may start together. More than `max` wait for an empty window. */
  delay(n: number, now: number): number {
    let over = this.#count + n - this.max;
    let free = this.#pace;
    for (const starts of this.#starts) {
      if (over <= 0) break;
      over -= starts.n;
      free = Math.max(free, starts.latest + this.#window);
    }
    const wait = Math.max(0, free - now);
    if (wait > 0) this.#scheduled = now + wait;
    return wait;
  }

  start(n: number, now: number): void {
    this.#pace = Math.max(this.#pace, now - this.#slack(now)) + n * this.#interval;
    this.#lastStart = now;
    this.#scheduled = undefined;
    this.#count += n;
    const last = this.#starts.at(-1);
    if (last && now - last.first < this.#window * GRAIN) {
      last.latest = now;
      last.n += n;
      return;
    }
    this.#starts.push({ first: now, latest: now, n });
    const left = this.#starts.findIndex(({ latest }) => latest + this.#window > now);
    for (const { n: over } of this.#starts.splice(0, left)) this.#count -= over;
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
    const starts = this.#starts.map(({ latest, n }) => [Math.floor(now - latest), n] as const);
    return JSON.stringify(starts.filter(([ago]) => ago <= this.#window));
  }

  /** Takes over the state that {@link save} returned; an unreadable state counts as a full window. */
  restore(state: string, now: number): void {
    const starts = startsOf(state);
    if (!starts) return this.holdUntil(now + this.#window);
    for (const [ago, n] of starts) this.start(n, now - ago);
    // The starts may be those of a higher limit.
    this.#pace = Math.min(this.#pace, now + this.#window);
  }

  /** Longest lag of the pace. A waiting caller proves that there was demand. */
  #slack(now: number): number {
    if (this.#scheduled !== undefined)
      return now - this.#scheduled <= MAX_CALLER_DELAY ? MAX_CALLER_DELAY : BURST;
    return now - this.#lastStart <= BURST ? Math.max(BURST, this.#lastStart - this.#pace) : BURST;
  }
}

function startsOf(state: string): [number, number][] | undefined {
  try {
    const starts: unknown = JSON.parse(state);
    const isStart = (entry: unknown) =>
      Array.isArray(entry) &&
      entry.length === 2 &&
      entry.every((n) => Number.isFinite(n) && n >= 0);
    return Array.isArray(starts) && starts.every(isStart) ? starts : undefined;
  } catch {
    return undefined;
  }
}
