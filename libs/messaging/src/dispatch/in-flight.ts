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
  /** With the lane's requests that they are among. */
  readonly items: Map<T, InFlight<T>>;
  readonly timeout: number;
  /** End of the interval in which requests join, on the `performance` clock. */
  readonly closing: number;
  readonly deadline: number;
  timer?: NodeJS.Timeout | undefined;
}

/** The waves that requests join, by time limit. */
export type Waves<T> = Map<number, Wave<T>>;

/** The requests of a lane in flight, in waves that share an abort signal and its timer. */
export class InFlight<T> {
  readonly #waves = new Map<T, Wave<T>>();

  constructor(
    /** Time limit in milliseconds; the signal may abort up to 1% earlier. */
    private readonly timeout: number,
    /** Called for a request that ignores its signal. */
    private readonly giveUp: (item: T) => void,
    /** Shared by all lanes: a signal for each took a tenth of the CPU of a lane with two messages. */
    private readonly latest: Waves<T> = new Map(),
  ) {}

  get size(): number {
    return this.#waves.size;
  }

  /** @param timeout time limit of this request, where it has its own */
  begin(item: T, timeout = this.timeout): AbortSignal {
    const now = performance.now();
    let wave = this.latest.get(timeout);
    if (!wave || now >= wave.closing) this.latest.set(timeout, (wave = this.#begin(now, timeout)));
    this.#waves.set(item, wave);
    wave.items.set(item, this);
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

  /** Aborts all requests at a stop, also those of other lanes that share a signal. */
  abort(): void {
    for (const wave of new Set(this.#waves.values())) this.#abort(wave);
  }

  #begin(now: number, timeout: number): Wave<T> {
    const controller = new AbortController();
    // Each request adds one listener, so the warning about a listener leak does not apply.
    setMaxListeners(0, controller.signal);
    const closing = now + timeout * SIGNAL_SHARE;
    return { controller, items: new Map(), timeout, closing, deadline: now + timeout };
  }

  #abort(wave: Wave<T>): void {
    if (wave.controller.signal.aborted) return;
    if (wave === this.latest.get(wave.timeout)) this.latest.delete(wave.timeout);
    clearTimeout(wave.timer);
    wave.controller.abort();
    wave.timer = setTimeout(() => wave.items.forEach((of, item) => of.giveUp(item)), GRACE);
    wave.timer.unref();
  }
}
