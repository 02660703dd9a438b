import { setMaxListeners } from 'node:events';

/** Milliseconds between the abort signal and giving the request up for a transport that ignores the signal. */
const GRACE = 5_000;
/** Requests that start within this share of their time limit share one signal; a signal each cost more than everything else per request. */
const TOGETHER = 0.01;

/** Requests that share a signal. */
interface Wave {
  readonly controller: AbortController;
  /** Until when requests join, on the clock of `performance`. */
  readonly closing: number;
  readonly deadline: number;
}

/** Requests in flight. All have the same time limit, so one timer watches the oldest. */
export class InFlight<T> {
  /** In the order they started. */
  readonly #waves = new Map<T, Wave>();
  #latest: Wave | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    /** Milliseconds until the signal of a request aborts, or up to a hundredth less. */
    private readonly timeout: number,
    /** Called for a request that ignores its signal. */
    private readonly giveUp: (item: T) => void,
  ) {}

  get size(): number {
    return this.#waves.size;
  }

  begin(item: T): AbortSignal {
    const wave = this.#open(performance.now());
    this.#waves.set(item, wave);
    this.#timer ??= setTimeout(() => this.#expire(), this.timeout);
    return wave.controller.signal;
  }

  /** False: the request had ended before. */
  end(item: T): boolean {
    const ended = this.#waves.delete(item);
    if (this.#waves.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    return ended;
  }

  /** Aborts every request. */
  abort(): void {
    for (const wave of this.#waves.values()) this.#abort(wave);
  }

  #open(now: number): Wave {
    const latest = this.#latest;
    if (latest && now < latest.closing && !latest.controller.signal.aborted) return latest;
    const controller = new AbortController();
    // One listener a request: not a leak.
    setMaxListeners(0, controller.signal);
    const wave = {
      controller,
      closing: now + this.timeout * TOGETHER,
      deadline: now + this.timeout,
    };
    return (this.#latest = wave);
  }

  #abort(wave: Wave): void {
    if (wave.controller.signal.aborted) return;
    wave.controller.abort();
    setTimeout(() => {
      for (const [item, its] of this.#waves) if (its === wave) this.giveUp(item);
    }, GRACE).unref();
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const wave of this.#waves.values()) {
      if (wave.controller.signal.aborted) continue;
      // A timer may fire a moment early.
      if (wave.deadline > now + 1) {
        this.#timer = setTimeout(() => this.#expire(), wave.deadline - now);
        return;
      }
      this.#abort(wave);
    }
  }
}
