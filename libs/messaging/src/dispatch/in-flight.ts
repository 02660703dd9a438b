import { setMaxListeners } from 'node:events';

/** Milliseconds a transport that was told to give up has left before its request is given up for it. */
const GRACE = 5_000;
/** Requests that start within this share of their time limit are one wave: a signal each would cost more than all else about them. */
const TOGETHER = 0.01;

/** Requests that started together. */
interface Wave {
  readonly controller: AbortController;
  /** On the clock of `performance`, as `deadline`: until then others join. */
  readonly closing: number;
  readonly deadline: number;
}

/** Requests on their way. All have the same time limit, so that one timer watches the oldest. */
export class InFlight<T> {
  /** In the order they started. */
  readonly #waves = new Map<T, Wave>();
  #latest: Wave | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    /** Milliseconds one may take, or up to a hundredth less, until its signal tells it to give up. */
    private readonly timeout: number,
    /** One ignores its signal, and must not hold the others up. */
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

  /** False: it was not under way any more. */
  end(item: T): boolean {
    const ended = this.#waves.delete(item);
    if (this.#waves.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    return ended;
  }

  /** Tells all of them to give up. */
  abort(): void {
    for (const wave of this.#waves.values()) this.#abort(wave);
  }

  #open(now: number): Wave {
    const latest = this.#latest;
    if (latest && now < latest.closing && !latest.controller.signal.aborted) return latest;
    const controller = new AbortController();
    // As many as there are requests; that is no leak.
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
      // A timer may come a moment early.
      if (wave.deadline > now + 1) {
        this.#timer = setTimeout(() => this.#expire(), wave.deadline - now);
        return;
      }
      this.#abort(wave);
    }
  }
}
