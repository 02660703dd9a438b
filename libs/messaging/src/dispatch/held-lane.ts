import { Logger } from '@nestjs/common';
import type { PolicyPipeline } from '../policy/policy-pipeline.js';
import { type RateLimit, rateOf } from '../ports/option-schema.js';
import type { Router } from '../routing/router.js';
import type { Outcome } from '../store/rows/outcome.js';
import type { Intents } from '../store/verbs/intents.js';
import type { LaneWork } from '../store/verbs/lane-work.js';
import type { OutcomeRecorder } from '../store/verbs/settle.js';
import { FailurePolicy } from './failure-policy.js';
import type { LeaseContext, LeasedLane } from './leased-lane.js';
import { LanePause } from './lane-pause.js';
import type { PrefetchBudget } from './prefetch-size.js';
import type { ProviderState } from './provider-state.js';
import { RateLimiter } from './rate-limiter.js';
import { recordAgain } from './backoff.js';
import type { PreparedSubmission } from './submissions.js';

/** Durations in milliseconds. */
export interface DispatchContext extends LeaseContext {
  readonly work: LaneWork;
  readonly intents: Intents;
  readonly outcomes: OutcomeRecorder;
  readonly policy: PolicyPipeline;
  readonly router: Router;
  readonly providers: ReadonlyMap<string, ProviderState>;
  readonly budget: PrefetchBudget;
  readonly rateLimit?: RateLimit | ((lane: string) => RateLimit | undefined) | undefined;
  readonly backoff: number;
  /** How long a batch that fails alone is retried without counting attempts. */
  readonly retryFor: number;
  readonly concurrency: number;
  readonly maxAttempts: number;
  readonly timeout: number;
}

/** Interval between two reads of a lane's rate limit, in milliseconds. */
const RATE_REFRESH_INTERVAL = 250;

/** State of a lane that the process keeps between two drains. */
export class LaneMemory {
  readonly #failures = new Map<string, FailurePolicy>();
  /** Fence up to which the limiter has recorded every start; -1: none. */
  #fence = -1;
  #rate: { readonly max: number; readonly per: number } | undefined;
  #limiter: RateLimiter | undefined;
  #readAt = -Infinity;

  /** @throws MessagingConfigError where the `rateLimit` option gives no valid limit for the lane */
  constructor(
    private readonly lane: string,
    private readonly context: Pick<DispatchContext, 'rateLimit' | 'backoff' | 'clock'>,
  ) {
    this.refresh();
  }

  get limiter(): RateLimiter | undefined {
    return this.#limiter;
  }

  /** Follows a changed rate limit; the new limiter counts the starts of the old one. */
  refresh(): void {
    const now = this.context.clock.monotonic();
    if (now - this.#readAt < RATE_REFRESH_INTERVAL) return;
    const { rateLimit } = this.context;
    const limit = typeof rateLimit === 'function' ? rateLimit(this.lane) : rateLimit;
    const rate = limit && rateOf(`dispatch.rateLimit of lane ${this.lane}`, limit);
    this.#readAt = now;
    if (rate?.max === this.#rate?.max && rate?.per === this.#rate?.per) return;
    const before = this.#limiter?.save(now);
    this.#rate = rate;
    this.#limiter = rate && new RateLimiter(rate.max, rate.per);
    if (before !== undefined) this.#limiter?.restore(before, now);
  }

  /** Restores the rate state, because another holder of the lane may have used its window. */
  takeOver({ fence, clean, rateState, idleFor, ours }: LeasedLane['lease']): void {
    this.refresh();
    const known = ours && this.#fence === fence - 1;
    this.#fence = fence;
    if (known) return;
    const now = this.context.clock.monotonic();
    if (rateState) this.#limiter?.restore(rateState, now);
    else if (!clean) this.#limiter?.holdUntil(now + (this.#rate?.per ?? 0) - idleFor);
  }

  failuresOf(provider: string): FailurePolicy {
    let failures = this.#failures.get(provider);
    if (!failures) {
      failures = new FailurePolicy(this.context.backoff);
      this.#failures.set(provider, failures);
    }
    return failures;
  }

  get probing(): FailurePolicy[] {
    return [...this.#failures.values()].filter(({ probing }) => probing);
  }
}

/** State that the prefetch and the requests of a lane share under one lease. */
export class HeldLane {
  readonly pause: LanePause;
  nudges = 0;
  /** Outcomes not yet committed. */
  recording = 0;
  /** Uncommitted outcomes that set messages back to `queued`; until then plans are out of order. */
  returning = 0;
  /** Outcomes that a stop did not wait for; the next holder finds their submissions open. */
  unrecorded = 0;
  readonly #logger = new Logger('Lane');

  constructor(
    readonly leased: LeasedLane,
    readonly context: DispatchContext,
    readonly memory: LaneMemory,
  ) {
    this.pause = new LanePause(context, leased.lease);
  }

  provider(name: string): ProviderState {
    const state = this.context.providers.get(name);
    if (!state) throw new Error(`No provider ${name}`);
    return state;
  }

  nudge(): void {
    this.nudges++;
    this.leased.changed.wake();
  }

  /** Retries until the database takes the outcome. */
  record(
    { batch, n, firstPosition, lastPosition, provider }: PreparedSubmission,
    result: Pick<Outcome, 'result'> & Partial<Outcome>,
  ): void {
    const { fence } = this.leased.lease;
    const outcome = { batch, n, firstPosition, lastPosition, provider, fence, ...result };
    const returns = outcome.result === 'refused' || outcome.result === 'withdrawn';
    this.recording++;
    if (returns) this.returning++;
    this.context.outcomes.record(outcome).then(
      () => this.#recorded(returns),
      async (error: unknown) => {
        await this.#recordAgain(outcome, error);
        this.#recorded(returns);
      },
    );
  }

  async #recordAgain(outcome: Outcome, failure: unknown): Promise<void> {
    const { leased, context } = this;
    const error = await recordAgain(
      () => context.outcomes.record(outcome),
      failure,
      leased.stopping,
      (cause) =>
        this.#logger.error(`${leased.lane}: outcome not recorded yet: ${(cause as Error).name}`),
    );
    if (error === undefined) return;
    leased.fail(error);
    this.unrecorded++;
  }

  #recorded(returns: boolean): void {
    this.recording--;
    if (returns) {
      this.returning--;
      this.nudge();
    } else this.leased.changed.wake();
  }
}
