import type { Rate } from '../config/variable.js';

/** What is left of a window after a request. */
export interface WindowState {
  /** Requests still allowed; negative: this one was one too many. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly reset: number;
}

interface Count {
  used: number;
  endsAt: number;
}

const MOST_KEYS = 20_000;

/** Counts requests by key in fixed windows, in this process alone. */
export class RequestWindow {
  readonly #counts = new Map<string, Count>();

  constructor(
    readonly rate: Rate,
    private readonly now: () => number = () => performance.now(),
  ) {}

  take(key: string): WindowState {
    const now = this.now();
    let count = this.#counts.get(key);
    if (!count || now >= count.endsAt) {
      this.#counts.delete(key);
      count = { used: 0, endsAt: now + this.rate.per };
      this.#counts.set(key, count);
      if (this.#counts.size > MOST_KEYS) this.#forgetOldest();
    }
    count.used++;
    return {
      remaining: this.rate.max - count.used,
      reset: Math.max(1, Math.ceil((count.endsAt - now) / 1_000)),
    };
  }

  /** The windows are in order of their beginning. */
  #forgetOldest(): void {
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined) this.#counts.delete(oldest);
  }
}
