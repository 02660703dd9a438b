import { setMaxListeners } from 'node:events';

/** Time that a transport has after the abort signal to end a request, in milliseconds. Then the request is given up. */
const GRACE = 5_000;
/**
 * Requests that start within this share of their time limit use one abort signal. One signal for each request cost
 * more than all other work per request.
 */
const SIGNAL_SHARE = 0.01;

/** Requests that share a signal. */
interface Wave {
  readonly controller: AbortController;
  /** End of the interval in which requests join, on the `performance` clock. */
  readonly closing: number;
  readonly deadline: number;
}

/** Requests in flight. All have the same time limit, so one timer watches the oldest. */
export class InFlight<T> {
  /** In start order. */
  readonly #waves = new Map<T, Wave>();
  #latest: Wave | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    /** Time limit of a request in milliseconds; its signal may abort up to 1% earlier. */
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

  /** @returns false where the request had already ended */
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
    // Each request adds one listener, so the warning about a listener leak does not apply.
    setMaxListeners(0, controller.signal);
    const wave = {
      controller,
      closing: now + this.timeout * SIGNAL_SHARE,
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
      // A timer may fire up to a millisecond early.
      if (wave.deadline > now + 1) {
        this.#timer = setTimeout(() => this.#expire(), wave.deadline - now);
        return;
      }
      this.#abort(wave);
    }
  }
}
