/** Longest delay of a timer in Node, in milliseconds. */
const MAX_DELAY = 2 ** 31 - 1;

/** Calls `wake` for each lane at the earliest time set for it; a far time needs several calls. */
export class LaneTimer {
  readonly #timers = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();

  constructor(private readonly wake: (lane: string, at: number) => void) {}

  /** @param at epoch milliseconds */
  set(lane: string, at: number): void {
    const known = this.#timers.get(lane);
    if (known && known.at <= at) return;
    clearTimeout(known?.timer);
    const ring = () => {
      this.#timers.delete(lane);
      this.wake(lane, at);
    };
    const timer = setTimeout(ring, Math.min(at - Date.now(), MAX_DELAY));
    this.#timers.set(lane, { at, timer });
  }

  stop(): void {
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
