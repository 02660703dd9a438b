/** Margin of the pace, so that network jitter pushes no window at the receiver over the limit. */
const PACE_MARGIN = 1.005;
/** Margin of the window: smaller, so that starts bunched by a stall spread out again. */
const WINDOW_MARGIN = 1.002;
/** Longest idle time that the limiter catches up with, in milliseconds. */
const BURST = 100;
/** Longest delay of a waiting caller (late timer, busy event loop) to catch up with, in ms. */
const MAX_CALLER_DELAY = 500;
/** Longest delay between a start and its bytes on the socket that lengthens the window, in ms. */
const LONGEST_DELAY = 20;
/** The same as a share of `per`, so that the mean stays above 0.98 of the limit. */
const LONGEST_DELAY_SHARE = 0.015;
/** Time for which the longest delay counts, at least, in milliseconds. */
const DELAY_LASTS = 10_000;
/** Share of the window in which starts are counted together, as if at the latest of them. */
const GRAIN = 0.001;

/** Saved state that {@link RateLimiter.restore} reads as a full window. */
const FULL_WINDOW = '"full"';

/** Starts that are counted together. Monotonic milliseconds. */
interface Starts {
  readonly first: number;
  latest: number;
  n: number;
  /** Requests among them whose bytes are not at the socket yet. */
  unwritten: number;
}

/**
 * At most `max` starts in *any* window of `per` milliseconds: starts are paced evenly, and the
 * count of the last window refuses starts that pacing alone would allow after a late timer. A start
 * counts at the moment at which its bytes went to the socket, where the transport tells it; the window
 * is longer by the longest such delay of the last seconds, as the way to the provider varies no less.
 */
export class RateLimiter {
  readonly #longestDelay: number;
  /** Longest delays between start and socket: of the present ten seconds, and of those before. */
  #delay = 0;
  #delayBefore = 0;
  #delaySince = -Infinity;
  #starts: Starts[] = [];
  #count = 0;
  /** Time at which the pace allows the next start. */
  #pace = -Infinity;
  #lastStart = -Infinity;
  /** Scheduled start of the waiting caller, if any. */
  #scheduled: number | undefined;
  #blockedUntil = -Infinity;

  constructor(
    readonly max: number,
    readonly per: number,
  ) {
    this.#longestDelay = Math.min(LONGEST_DELAY, per * LONGEST_DELAY_SHARE);
  }

  get #window(): number {
    return this.per * WINDOW_MARGIN + Math.max(this.#delay, this.#delayBefore);
  }

  get #interval(): number {
    return Math.max(this.per * PACE_MARGIN, this.#window) / this.max;
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
    const window = this.#window;
    for (const starts of this.#starts) {
      if (over <= 0) break;
      over -= starts.n;
      free = Math.max(free, this.#endOf(starts) + window);
    }
    const wait = Math.max(0, free - now);
    if (wait > 0) this.#scheduled = now + wait;
    return wait;
  }

  /** @param isWritten false: {@link written} follows */
  start(n: number, now: number, isWritten = true): Starts {
    this.#pace = Math.max(this.#pace, now - this.#slack(now)) + n * this.#interval;
    this.#lastStart = now;
    this.#scheduled = undefined;
    this.#count += n;
    const last = this.#starts.at(-1);
    if (last && now - last.first < this.#window * GRAIN) {
      last.latest = Math.max(last.latest, now);
      last.n += n;
      if (!isWritten) last.unwritten++;
      return last;
    }
    const starts = { first: now, latest: now, n, unwritten: isWritten ? 0 : 1 };
    this.#starts.push(starts);
    const window = this.#window;
    const left = this.#starts.findIndex((one) => this.#endOf(one) + window > now);
    for (const { n: over } of this.#starts.splice(0, left)) this.#count -= over;
    return starts;
  }

  /**
   * The bytes of one of `starts` went to the socket.
   * @param plannedAt when its start was decided
   * @param isAwaited whether the start was not written
   */
  written(starts: Starts, plannedAt: number, at: number, isAwaited: boolean): void {
    if (isAwaited) starts.unwritten--;
    starts.latest = Math.max(starts.latest, at);
    if (at - this.#delaySince >= DELAY_LASTS) {
      this.#delayBefore = this.#delay;
      this.#delay = 0;
      this.#delaySince = at;
    }
    this.#delay = Math.max(this.#delay, Math.min(this.#longestDelay, at - plannedAt));
  }

  /** The moment of the last of them, as far as known. */
  #endOf({ latest, unwritten }: Starts): number {
    return unwritten > 0 ? latest + this.#longestDelay : latest;
  }

  /** Blocks all starts until `until`: another process may have used the window up to then. */
  blockUntil(until: number): void {
    this.#pace = Math.max(this.#pace, until);
    this.#blockedUntil = Math.max(this.#blockedUntil, until);
  }

  /** Starts of the last window as `[milliseconds ago, number]`, for the lane's next holder. */
  save(now: number): string {
    // The individual starts of the former holder are unknown, so the next holder waits, too.
    if (this.#blockedUntil > now) return FULL_WINDOW;
    const starts = this.#starts.map(
      (one) => [Math.max(0, Math.floor(now - this.#endOf(one))), one.n] as const,
    );
    return JSON.stringify(starts.filter(([ago]) => ago <= this.#window));
  }

  /** Takes over the state that {@link save} returned; an unreadable state counts as a full window. */
  restore(state: string, now: number): void {
    const starts = startsOf(state);
    if (!starts) return this.blockUntil(now + this.#window);
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

/** A start that counts in several limits, at the moment at which its bytes went to the socket. */
export class CountedStart {
  #writtenAt: number | undefined;
  readonly #counted: { limiter: RateLimiter; starts: Starts; isAwaited: boolean }[] = [];

  /** @param plannedAt when the start was decided, in monotonic milliseconds */
  constructor(private readonly plannedAt: number) {}

  /** @param isTold whether the transport tells of its writes */
  countIn(limiter: RateLimiter, n: number, now: number, isTold: boolean): void {
    const at = this.#writtenAt;
    const isAwaited = isTold && at === undefined;
    const starts = limiter.start(n, now, !isAwaited);
    if (at === undefined) this.#counted.push({ limiter, starts, isAwaited });
    else limiter.written(starts, this.plannedAt, at, false);
  }

  written(at: number): void {
    if (this.#writtenAt !== undefined) return;
    this.#writtenAt = at;
    for (const { limiter, starts, isAwaited } of this.#counted)
      limiter.written(starts, this.plannedAt, at, isAwaited);
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
