import { Logger } from '@nestjs/common';
import type { DispatchEngine } from '../ports/dispatch-engine.js';
import { milliseconds } from '../ports/duration.js';
import type { MessagingOptions } from '../ports/messaging-options.js';
import { rateOf } from '../ports/rate-limit.js';
import { LaneDrain } from './lane-drain.js';
import { FailurePolicy } from './failure-policy.js';
import type { LaneDrainContext, LaneMemory } from './lane-run.js';
import { RateLimiter } from './rate-limiter.js';
import { StopSignal } from './stop-signal.js';

/** Lanes whose rate and failures are remembered between runs. */
const REMEMBERED = 10_000;

/** Lanes that are named where they were left. */
const NAMED = 10;

/** Gives the engine its drain, and every lane its limiter and gate. */
export class Dispatcher {
  readonly #logger = new Logger('Dispatch');
  readonly #running = new Map<string, LaneDrain>();
  readonly #memories = new Map<string, LaneMemory>();
  readonly #stopping = new WeakMap<AbortSignal, StopSignal>();

  constructor(
    private readonly engine: DispatchEngine,
    private readonly context: LaneDrainContext,
    private readonly options: Pick<MessagingOptions, 'rateLimit' | 'backoff'>,
  ) {}

  start(): Promise<void> {
    return this.engine.start((lane, signal) => this.drain(lane, signal));
  }

  stop(): Promise<void> {
    return this.engine.stop();
  }

  /** What is still under way, for people. */
  get underWay(): string {
    const lanes = [...this.#running].map(([lane, { underWay }]) => `lane ${lane} (${underWay})`);
    const more = lanes.length > NAMED ? [`${lanes.length - NAMED} lanes more`] : [];
    return ['the dispatch engine', ...lanes.slice(0, NAMED), ...more].join(', ');
  }

  /** Work was accepted. A drain of this process that is at it looks again, and the engine need not know. */
  wake(lane: string, at?: number): void {
    const nudged = this.#running.get(lane)?.nudge() ?? false;
    if (nudged && at === undefined) return;
    // What was accepted is accepted, whatever the engine says: the wake job finds it.
    void (async () => this.engine.wake(lane, at))().catch((error: unknown) =>
      this.#logger.warn(`${lane}: not woken: ${(error as Error).name}`),
    );
  }

  async drain(lane: string, signal: AbortSignal): Promise<number | undefined> {
    if (this.#running.has(lane)) return undefined;
    const drain = new LaneDrain(this.context, lane, this.#memoryOf(lane), this.#stopOf(signal));
    this.#running.set(lane, drain);
    try {
      return await drain.run();
    } finally {
      this.#running.delete(lane);
    }
  }

  #stopOf(signal: AbortSignal): StopSignal {
    const known = this.#stopping.get(signal);
    if (known) return known;
    const stop = new StopSignal(signal);
    this.#stopping.set(signal, stop);
    return stop;
  }

  #memoryOf(lane: string): LaneMemory {
    const known = this.#memories.get(lane);
    if (known) {
      this.#memories.delete(lane);
      this.#memories.set(lane, known);
      return known;
    }
    const { rateLimit } = this.options;
    const limit = typeof rateLimit === 'function' ? rateLimit(lane) : rateLimit;
    const rate = limit && rateOf(`rateLimit of lane ${lane}`, limit);
    const memory: LaneMemory = {
      gate: new FailurePolicy(milliseconds('backoff', this.options.backoff ?? '1s')),
      limiter: rate && new RateLimiter(rate.max, rate.per),
      per: rate?.per ?? 0,
      fence: -1,
    };
    this.#memories.set(lane, memory);
    // A forgotten lane costs nothing but a wait: its state is in the store, too.
    for (const oldest of this.#memories.keys()) {
      if (this.#memories.size <= REMEMBERED) break;
      if (!this.#running.has(oldest)) this.#memories.delete(oldest);
    }
    return memory;
  }
}
