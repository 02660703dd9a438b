import type { PolicyPipeline } from '../policy/policy-pipeline.js';
import type { Router } from '../routing/router.js';
import { type Intents, LaneLostError } from '../store/verbs/intents.js';
import type { Lease } from '../store/rows/lease.js';
import type { LaneWork } from '../store/verbs/lane-work.js';
import type { OutcomeRecorder } from '../store/verbs/settle.js';
import { FailurePolicy } from './failure-policy.js';
import type { LeaseContext, LeasedLane } from './lane-drain.js';
import { LanePause } from './lane-pause.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { PrefetchBudget } from './prefetch-queue.js';
import type { ProviderState } from './provider-state.js';
import { RateLimiter } from './rate-limiter.js';
import type { StopSignal, WakeSignal } from './signals.js';

/** Dependencies shared by the drains of all message lanes. Durations in milliseconds. */
export interface DispatchContext extends LeaseContext {
  readonly work: LaneWork;
  readonly intents: Intents;
  readonly outcomes: OutcomeRecorder;
  readonly policy: PolicyPipeline;
  readonly router: Router;
  /** The configured providers by name. */
  readonly providers: ReadonlyMap<string, ProviderState>;
  /** Limits the prepared messages of all lanes together. */
  readonly budget: PrefetchBudget;
  /** How long a batch that fails alone is retried without counting attempts. */
  readonly retryFor: number;
  readonly concurrency: number;
  readonly maxAttempts: number;
  readonly timeout: number;
}

/** Interval between two reads of a lane's rate limit, in milliseconds. */
const RATE_REFRESH_INTERVAL = 250;

/** At most `max` starts in any `per` milliseconds. */
export interface LaneRate {
  readonly max: number;
  readonly per: number;
}

/** State of a lane that the process keeps between two drains. */
export class LaneMemory {
  /** Fence up to which the limiter has recorded every start; -1: none. */
  fence = -1;
  readonly #failures = new Map<string, FailurePolicy>();

  #rate: LaneRate | undefined;
  #limiter: RateLimiter | undefined;
  #readAt = -Infinity;

  /** @throws MessagingConfigError where `rateOf` gives no valid limit */
  constructor(
    /** Returns the lane's current rate limit. */
    private readonly rateOf: () => LaneRate | undefined,
    /** First wait after a failure, in milliseconds. */
    private readonly backoff: number,
  ) {
    this.refresh(0);
  }

  get limiter(): RateLimiter | undefined {
    return this.#limiter;
  }

  /** Window of the rate limit, in milliseconds. */
  get per(): number {
    return this.#rate?.per ?? 0;
  }

  /** Follows a changed rate limit; the new limiter counts the starts that the old one recorded. */
  refresh(now: number): void {
    if (now - this.#readAt < RATE_REFRESH_INTERVAL) return;
    const rate = this.rateOf();
    this.#readAt = now;
    if (rate?.max === this.#rate?.max && rate?.per === this.#rate?.per) return;
    const before = this.#limiter?.save(now);
    this.#rate = rate;
    this.#limiter = rate && new RateLimiter(rate.max, rate.per);
    if (before !== undefined) this.#limiter?.restore(before, now);
  }

  /** Failures of one provider in this lane. */
  failuresOf(provider: string): FailurePolicy {
    let failures = this.#failures.get(provider);
    if (!failures) {
      failures = new FailurePolicy(this.backoff);
      this.#failures.set(provider, failures);
    }
    return failures;
  }

  /** Failure policies of the providers that currently fail in this lane. */
  get probing(): FailurePolicy[] {
    return [...this.#failures.values()].filter(({ probing }) => probing);
  }
}

/** A message lane under one lease: the state that its task, prefetch, resends and requests share. */
export class HeldLane {
  readonly lane: string;
  readonly lease: Lease;
  readonly keeper: LeaseKeeper;
  readonly stopping: StopSignal;
  readonly changed: WakeSignal;
  readonly pause: LanePause;

  constructor(
    private readonly leased: LeasedLane,
    readonly context: DispatchContext,
    readonly memory: LaneMemory,
  ) {
    this.lane = leased.lane;
    this.lease = leased.lease;
    this.keeper = leased.keeper;
    this.stopping = leased.stopping;
    this.changed = leased.changed;
    this.pause = new LanePause(context, leased.lease);
  }

  /** Error that ended the run early, or `undefined`. */
  get failure(): unknown {
    return this.leased.failure;
  }

  /** Ends the run early. */
  fail(error: unknown): void {
    if (error instanceof LaneLostError) this.keeper.lose();
    else this.leased.failure ??= error;
  }

  /** The state of a configured provider. */
  provider(name: string): ProviderState {
    const state = this.context.providers.get(name);
    if (!state) throw new Error(`No provider ${name}`);
    return state;
  }
}
