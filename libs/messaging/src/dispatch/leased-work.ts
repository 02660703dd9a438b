import { Logger } from '@nestjs/common';
import type { ChannelRegistry } from '../message/channel-registry.js';
import type { PolicyPipeline } from '../policy/policy-pipeline.js';
import type { MessagingSettings } from '../ports/messaging-settings.js';
import { rateOf } from '../ports/option-schema.js';
import type { Router } from '../routing/router.js';
import type { MessageStore } from '../store/message-store.js';
import {
  type Outcome,
  setsBack,
  type SubmissionResult,
  type UnknownResult,
} from '../store/rows/outcome.js';
import { recordAgain } from './backoff.js';
import { FailureHistory } from './failure-history.js';
import type { HoldWatch } from './hold-watch.js';
import type { Waves } from './in-flight.js';
import { LaneOrder } from './lane-order.js';
import { LanePause } from './lane-pause.js';
import type { LeaseContext, LeasedLane } from './leased-lane.js';
import type { PlaceKeeper } from './place-keeper.js';
import type { PrefetchBudget } from './prefetch-size.js';
import type { ProviderState } from './provider-state.js';
import { RateLimiter } from './rate-limiter.js';
import type { PreparedSubmission, SubmissionDoubt } from './submissions.js';

/** Durations in milliseconds. */
export interface DispatchContext
  extends
    LeaseContext,
    Pick<MessageStore, 'work' | 'intents' | 'outcomes' | 'doubts' | 'reports' | 'data'>,
    Omit<MessagingSettings['dispatch'], 'enabled' | 'engine' | 'lease'> {
  readonly policy: PolicyPipeline;
  readonly router: Router;
  readonly channels: ChannelRegistry;
  readonly providers: ReadonlyMap<string, ProviderState>;
  readonly budget: PrefetchBudget;
  readonly waves: Waves<PreparedSubmission>;
  readonly holds: Pick<HoldWatch, 'of'>;
  readonly places: Pick<PlaceKeeper, 'isLeased'>;
}

/** Interval between two reads of a lane's rate limit, in milliseconds. */
const RATE_REFRESH_INTERVAL = 250;

/** State of a lane that the process keeps between two drains. */
export class LaneMemory {
  limiter: RateLimiter | undefined;
  readonly order: LaneOrder;
  readonly #failures = new Map<string, FailureHistory>();
  /** Times before which no plan gives a provider further messages, on the monotonic clock. */
  readonly #deferred = new Map<string, number>();
  /** Fence up to which the limiter has recorded every start; -1: none. */
  #fence = -1;
  #readAt = -Infinity;

  /** @throws MessagingConfigError where the `rateLimit` option gives no valid limit for the lane */
  constructor(
    private readonly lane: string,
    private readonly context: Pick<
      DispatchContext,
      'rateLimit' | 'backoff' | 'maxAttempts' | 'clock' | 'channels'
    >,
  ) {
    const { channels } = context;
    this.order = new LaneOrder((channel) => channels.find(channel)?.redial !== undefined);
    this.refresh();
  }

  /** Follows a changed rate limit; the new limiter counts the starts of the old one. */
  refresh(): void {
    const now = this.context.clock.monotonic();
    if (now - this.#readAt < RATE_REFRESH_INTERVAL) return;
    const { rateLimit } = this.context;
    const limit = typeof rateLimit === 'function' ? rateLimit(this.lane) : rateLimit;
    const rate = limit && rateOf(`dispatch.rateLimit of lane ${this.lane}`, limit);
    this.#readAt = now;
    const before = this.limiter;
    if (rate?.max === before?.max && rate?.per === before?.per) return;
    this.limiter = rate && new RateLimiter(rate.max, rate.per);
    if (before) this.limiter?.restore(before.save(now), now);
  }

  /** Restores the rate state, because another holder of the lane may have used its window. */
  takeOver({ fence, clean, rateState, idleFor, ours }: LeasedLane['lease']): void {
    this.refresh();
    const isKnown = ours && this.#fence === fence - 1;
    this.#fence = fence;
    const { limiter } = this;
    if (isKnown || !limiter) return;
    const now = this.context.clock.monotonic();
    if (rateState) limiter.restore(rateState, now);
    else if (!clean) limiter.blockUntil(now + limiter.per - idleFor);
  }

  failuresOf(provider: string): FailureHistory {
    let failures = this.#failures.get(provider);
    if (!failures) {
      failures = new FailureHistory(this.context.backoff, this.context.maxAttempts);
      this.#failures.set(provider, failures);
    }
    return failures;
  }

  /** Defers messages of the provider, so that no later one of it may go first. */
  deferUntil(provider: string, until: number): void {
    this.#deferred.set(provider, Math.max(until, this.#deferred.get(provider) ?? -Infinity));
  }

  /** End of the deferral, on the monotonic clock. */
  deferredUntil(provider: string): number {
    return this.#deferred.get(provider) ?? -Infinity;
  }

  /** The lane has no batch to try beside the failing ones. */
  alone(): void {
    for (const failures of this.#failures.values()) failures.alone();
  }
}

/** State that the prefetch and the requests of a lane share under one lease. */
export class LeasedWork {
  readonly pause: LanePause;
  nudges = 0;
  /** Requests in flight, by provider. */
  readonly inFlight = new Map<string, number>();
  /** Outcomes not yet committed. */
  recording = 0;
  /** Uncommitted outcomes that set messages back to `queued`; until then plans are out of order. */
  returning = 0;
  /** Outcomes that a stop did not wait for; the next holder finds their submissions unanswered. */
  unrecorded = 0;
  readonly #logger = new Logger('Lane');

  constructor(
    readonly leased: LeasedLane,
    readonly context: DispatchContext,
    readonly memory: LaneMemory,
  ) {
    const { providers, router } = context;
    this.pause = new LanePause(context, leased.lease, providers, router.only === undefined);
  }

  /** Monotonic milliseconds. */
  get now(): number {
    return this.context.clock.monotonic();
  }

  /** Whether a hold, or a missing place at a provider, forbids that anything starts. */
  get onHold(): boolean {
    const { holds, places } = this.context;
    return !places.isLeased || holds.of(this.leased.lane) !== undefined;
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

  /** Retries until the database takes the outcome. Resolves after the commit, or the end of the tries. */
  record(
    { batch, n, firstPosition, lastPosition, provider }: PreparedSubmission,
    result: SubmissionResult,
  ): Promise<void> {
    const { fence } = this.leased.lease;
    const outcome = { batch, n, firstPosition, lastPosition, provider, fence, ...result };
    const returns = setsBack(result);
    this.recording++;
    if (returns) this.returning++;
    return this.#record(outcome).then(() => {
      this.recording--;
      if (!returns) return this.leased.changed.wake();
      this.returning--;
      this.nudge();
    });
  }

  /** Records a submission without an answer, under the reference that its provider knows it by. */
  recordUnknown(
    item: PreparedSubmission,
    facts: Pick<UnknownResult, 'errorCode' | 'errorText'>,
  ): void {
    const { channel, content } = item.submission;
    const reference = this.context.channels.find(channel)?.irrevocable?.referenceOf(content);
    void this.record(item, { result: 'unknown', ...facts, ...(reference && { reference }) });
  }

  /** Records why the submission has no outcome yet. A failed write is made up for by the next one. */
  doubt(
    { batch, n, firstPosition, lastPosition, countedFailures }: PreparedSubmission,
    facts: SubmissionDoubt,
  ): void {
    this.recording++;
    void this.context.doubts
      .record({ batch, n, firstPosition, lastPosition, countedFailures, ...facts })
      .catch((error: unknown) =>
        this.#logger.warn(`${this.leased.lane}: doubt not recorded: ${(error as Error).name}`),
      )
      .then(() => {
        this.recording--;
        this.leased.changed.wake();
      });
  }

  /**
   * Whether the provider is asked for the submission by our key before it is sent again. Messages
   * behind it leave during the question, so a lane with `concurrency: 1`, which keeps its order, sends
   * it again at once.
   */
  finds({ provider, submission }: PreparedSubmission): boolean {
    if (this.context.concurrency === 1) return false;
    const { capabilities, canBeAsked } = this.provider(provider);
    return canBeAsked && (capabilities.reportsByKey?.includes(submission.channel) ?? false);
  }

  /** Whether the provider is asked for an outcome that is not known, and nothing is repeated. */
  asks({ submission }: PreparedSubmission): boolean {
    return this.context.channels.find(submission.channel)?.irrevocable !== undefined;
  }

  async #record(outcome: Outcome): Promise<void> {
    const { leased, context } = this;
    const write = () => context.outcomes.record(outcome);
    try {
      await write();
    } catch (failure) {
      const error = await recordAgain(write, failure, leased.stopping, (cause) =>
        this.#logger.error(`${leased.lane}: outcome not recorded yet: ${(cause as Error).name}`),
      );
      if (error === undefined) return;
      leased.fail(error);
      this.unrecorded++;
    }
  }
}
