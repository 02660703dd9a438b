import { Outbox } from './outbox.js';
import { type Clock, systemClock } from '../ports/clock.js';
import { DatabaseEngine } from '../engines/database.engine.js';
import type { DispatchEngine, Drain } from '../ports/dispatch-engine.js';

/** Drains lanes as the embedded engine does, with wakes for later by the clock of the test. */
class TestEngine implements DispatchEngine {
  readonly name = 'testing';
  readonly #engine = new DatabaseEngine((lane, at) => this.wake(lane, at));
  readonly #later = new Map<string, number>();
  readonly #running = new Set<Promise<unknown>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(private readonly clock: Clock) {}

  start(drain: Drain): Promise<void> {
    return this.#engine.start((lane) => {
      const run = drain(lane)
        .catch((error: unknown) => {
          this.#failure = { error };
          throw error;
        })
        .finally(() => this.#running.delete(run));
      this.#running.add(run);
      return run;
    });
  }

  wake(lane: string, at?: number): void {
    if (at === undefined || at <= this.clock.now()) {
      this.#later.delete(lane);
      this.#engine.wake(lane);
    } else this.#later.set(lane, Math.min(at, this.#later.get(lane) ?? Infinity));
  }

  stop(): Promise<void> {
    return this.#engine.stop();
  }

  /** Lanes that are drained now. */
  get running(): number {
    return this.#running.size;
  }

  /** The earliest wake for later, in epoch milliseconds. */
  get next(): number | undefined {
    return this.#later.size === 0 ? undefined : Math.min(...this.#later.values());
  }

  wakeDue(): void {
    for (const [lane, at] of this.#later) if (at <= this.clock.now()) this.wake(lane);
  }

  /** Resolves when no lane is drained. @throws the error of a drain that failed */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure.error;
  }
}

/** The clock of the machine plus the time by which tests have advanced it. */
class TestClock implements Clock {
  #ahead = 0;

  now(): number {
    return systemClock.now() + this.#ahead;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#ahead;
  }

  id(): string {
    return systemClock.id();
  }

  /** Never goes back. */
  advanceTo(epoch: number): void {
    this.#ahead += Math.max(0, epoch - this.now());
  }
}

/** Parts of one module of the kit, in place of an app's own. */
export class KitParts {
  readonly clock = new TestClock();
  readonly engine = new TestEngine(this.clock);
  readonly outbox = new Outbox();

  constructor(
    /** The database is the kit's, and not a data source of the app. */
    readonly ownsDatabase: boolean,
  ) {}
}
