import { setMaxListeners } from 'node:events';

/** Time between the abort signal and giving up a request, in milliseconds. */
const GRACE = 5_000;
/**
 * Requests that start within this share of their time limit use one abort signal. One signal for
 * each request cost more than all other work per request.
 */
const SIGNAL_SHARE = 0.01;

interface Wave<T> {
  readonly controller: AbortController;
  readonly items: Set<T>;
  /** End of the interval in which requests join, on the `performance` clock. */
  readonly closing: number;
  readonly deadline: number;
  timer?: NodeJS.Timeout | undefined;
}

export class InFlight<T> {
  readonly #waves = new Map<T, Wave<T>>();
  #latest: Wave<T> | undefined;

  constructor(
    /** Time limit in milliseconds; the signal may abort up to 1% earlier. */
    private readonly timeout: number,
    /** Called for a request that ignores its signal. */
    private readonly giveUp: (item: T) => void,
  ) {}

  get size(): number {
    return this.#waves.size;
  }

  begin(item: T): AbortSignal {
    const now = performance.now();
    if (!this.#latest || now >= this.#latest.closing) this.#latest = this.#open(now);
    const wave = this.#latest;
    this.#waves.set(item, wave);
    wave.items.add(item);
    wave.timer ??= setTimeout(() => this.#abort(wave), wave.deadline - now);
    return wave.controller.signal;
  }

  /** @returns false where the request had already ended */
  end(item: T): boolean {
    const wave = this.#waves.get(item);
    if (!wave) return false;
    this.#waves.delete(item);
    wave.items.delete(item);
    if (wave.items.size === 0) {
      clearTimeout(wave.timer);
      wave.timer = undefined;
    }
    return true;
  }

  abort(): void {
    for (const wave of new Set(this.#waves.values())) this.#abort(wave);
  }

  #open(now: number): Wave<T> {
    const controller = new AbortController();
    // Each request adds one listener, so the warning about a listener leak does not apply.
    setMaxListeners(0, controller.signal);
    const closing = now + this.timeout * SIGNAL_SHARE;
    return { controller, items: new Set(), closing, deadline: now + this.timeout };
  }

  #abort(wave: Wave<T>): void {
    if (wave.controller.signal.aborted) return;
    if (wave === this.#latest) this.#latest = undefined;
    clearTimeout(wave.timer);
    wave.controller.abort();
    wave.timer = setTimeout(() => wave.items.forEach((item) => this.giveUp(item)), GRACE);
    wave.timer.unref();
  }
}
