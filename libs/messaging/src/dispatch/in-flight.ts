/** Milliseconds a transport that was told to give up has left before its request is given up for it. */
const GRACE = 5_000;

interface Flight {
  readonly controller: AbortController;
  /** On the clock of `performance`. */
  readonly deadline: number;
}

/** Requests on their way. All have the same time limit, so that one timer watches the oldest. */
export class InFlight<T> {
  /** In the order they started. */
  readonly #flights = new Map<T, Flight>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    /** Milliseconds one may take until its signal tells it to give up. */
    private readonly timeout: number,
    /** One ignores its signal, and must not hold the others up. */
    private readonly giveUp: (item: T) => void,
  ) {}

  get size(): number {
    return this.#flights.size;
  }

  begin(item: T): AbortSignal {
    const controller = new AbortController();
    this.#flights.set(item, { controller, deadline: performance.now() + this.timeout });
    this.#timer ??= setTimeout(() => this.#expire(), this.timeout);
    return controller.signal;
  }

  /** False: it was not under way any more. */
  end(item: T): boolean {
    const ended = this.#flights.delete(item);
    if (this.#flights.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    return ended;
  }

  /** Tells all of them to give up. */
  abort(): void {
    for (const [item, { controller }] of this.#flights) this.#abort(item, controller);
  }

  #abort(item: T, controller: AbortController): void {
    if (controller.signal.aborted) return;
    controller.abort();
    setTimeout(() => {
      if (this.#flights.has(item)) this.giveUp(item);
    }, GRACE).unref();
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [item, { controller, deadline }] of this.#flights) {
      if (controller.signal.aborted) continue;
      // A timer may come a moment early.
      if (deadline > now + 1) {
        this.#timer = setTimeout(() => this.#expire(), deadline - now);
        return;
      }
      this.#abort(item, controller);
    }
  }
}
