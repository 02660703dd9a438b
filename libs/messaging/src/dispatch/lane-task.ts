/** Time after `shutdownTimeout` in which outcomes are still recorded, in milliseconds. */
const RECORD_TIMEOUT = 1_000;

/** The work of a lane under one lease. */
export interface LaneTask {
  /** For logs. */
  readonly underWay: string;
  /** Announces that new work may be due. */
  nudge(): void;
  /**
   * Starts all due work. Resolves when nothing is due, the lease is lost or the process stops.
   * @throws LaneLostError where another process holds the lane
   */
  pump(): Promise<void>;
  /** Starts no more work. Resolves once the outcomes of all started requests are recorded. */
  settle(): Promise<void>;
  /** Aborts the requests in flight. A stopping process calls it after `shutdownTimeout`. */
  abort(): void;
  /** State to store with the lane when it is released; not called for a lost lane. */
  leave(): Promise<{ readonly rateState: string | null; readonly open: boolean }>;
  /** Milliseconds until the lane has work again; `Infinity` where the time is not known. */
  nextDueIn(): Promise<number>;
}

interface StoppingLane {
  readonly changed: WakeSignal;
  abort(): void;
}

/**
 * The stop of the process, as its lanes see it:
 *
 * ```
 * running ─▶ aborted: no request starts ─shutdownTimeout─▶ requests are aborted ─1 s─▶ over: outcomes are given up
 * ```
 *
 * An `AbortSignal` compares each new listener with all others, so one listener serves all lanes.
 */
export class LaneStop {
  readonly #lanes = new Set<StoppingLane>();
  #over = false;

  /** @param shutdownTimeout milliseconds */
  constructor(
    private readonly signal: AbortSignal,
    private readonly shutdownTimeout: number,
  ) {
    if (signal.aborted) this.#begin();
    else signal.addEventListener('abort', () => this.#begin(), { once: true });
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  get over(): boolean {
    return this.#over;
  }

  add(lane: StoppingLane): void {
    this.#lanes.add(lane);
  }

  remove(lane: StoppingLane): void {
    this.#lanes.delete(lane);
  }

  #begin(): void {
    for (const { changed } of this.#lanes) changed.wake();
    const { shutdownTimeout } = this;
    setTimeout(() => {
      for (const lane of this.#lanes) lane.abort();
    }, shutdownTimeout).unref();
    setTimeout(() => (this.#over = true), shutdownTimeout + RECORD_TIMEOUT).unref();
  }
}

/**
 * Wakes one sleeper once the event loop has read all pending input, so that requests that follow
 * the answers of one read start together.
 */
export class WakeSignal {
  #wake: (() => void) | undefined;

  wake(): void {
    this.#wake?.();
  }

  /** Resolves with false at the next {@link wake}, or with true after `ms`. */
  sleep(ms?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (timedOut: boolean) => {
        this.#wake = undefined;
        clearTimeout(timer);
        resolve(timedOut);
      };
      const timer = ms === undefined ? undefined : setTimeout(end, ms, true);
      this.#wake = () => {
        this.#wake = undefined;
        clearTimeout(timer);
        setImmediate(resolve, false);
      };
    });
  }
}
