/** Longest delay of a timer in Node, in milliseconds. */
const MAX_DELAY = 2 ** 31 - 1;

/** Calls back for each lane at the earliest time set for it. All lanes share one timer. */
export class LaneTimer {
  readonly #times = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

  constructor(private readonly onTime: (lane: string) => void) {}

  /** @param at epoch milliseconds */
  set(lane: string, at: number): void {
    this.#times.set(lane, Math.min(at, this.#times.get(lane) ?? Infinity));
    this.#arm(at);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#times.clear();
  }

  #arm(at: number): void {
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#ring(), Math.min(at - Date.now(), MAX_DELAY));
  }

  #ring(): void {
    this.#timerAt = Infinity;
    const now = Date.now();
    let next = Infinity;
    for (const [lane, at] of this.#times)
      if (at <= now) {
        this.#times.delete(lane);
        this.onTime(lane);
      } else next = Math.min(next, at);
    if (next < Infinity) this.#arm(next);
  }
}
