import { keepNewest } from '../../message/keep-newest.js';
import type { Clock } from '../../ports/clock.js';

/** The oldest is forgotten: its next request gets Meta's refusal again. */
const MOST = 10_000;

interface Pause {
  /** Monotonic milliseconds. */
  readonly until: number;
  readonly code: string;
}

/** Paused numbers and recipients, in this process. */
export class Pauses {
  readonly #pauses = new Map<string, Pause>();

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** @param wait in milliseconds */
  add(key: string, wait: number, code = ''): void {
    this.#pauses.delete(key);
    this.#pauses.set(key, { until: this.clock.monotonic() + wait, code });
    keepNewest(this.#pauses, MOST);
  }

  /** `left` in milliseconds; `undefined`: it is not paused. */
  find(key: string): { readonly left: number; readonly code: string } | undefined {
    const pause = this.#pauses.get(key);
    if (!pause) return undefined;
    const left = pause.until - this.clock.monotonic();
    if (left > 0) return { left, code: pause.code };
    this.#pauses.delete(key);
    return undefined;
  }
}
