import type { HeldLane } from './held-lane.js';
import { InFlight } from './in-flight.js';
import type { Prefetch } from './prefetch.js';
import type { ProviderState } from './provider-state.js';
import type { Resends } from './resends.js';
import { ageOf, lateOutcomeOf, type PreparedSubmission } from './submissions.js';
import { acceptanceOf, failureOf, type SubmitFailureRecord } from './submit-result.js';

/** Longest rest for a provider that refuses every request, in milliseconds. */
const LONGEST_PAUSE = 30_000;

export class LaneRequests {
  readonly #inFlight: InFlight<PreparedSubmission>;

  constructor(
    private readonly held: HeldLane,
    private readonly prefetch: Prefetch,
    private readonly resends: Resends,
  ) {
    this.#inFlight = new InFlight(held.context.timeout, (item) => {
      if (this.#ended(item)) this.#failed(item, failureOf(undefined));
    });
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  get settled(): boolean {
    return this.inFlight === 0 && this.held.recording === 0;
  }

  start(item: PreparedSubmission): void {
    const { held } = this;
    const { context, memory, leased } = held;
    const provider = held.provider(item.provider);
    const skipped =
      item.skipOutcome ??
      lateOutcomeOf(item, context.clock, provider.capabilities.idempotencyWindow);
    if (skipped) {
      held.record(item, skipped);
      return;
    }
    provider.slots.take(leased.changed);
    // Without idempotency keys, an outcome is recorded at once: a submission without an outcome
    // becomes `unknown` if the process dies.
    if (provider.honoursKeys) context.outcomes.expect(1);
    const answered = this.#exchange(item, provider, this.#inFlight.begin(item));
    // Counted after the call, so that a pause between the two does not date the start too early.
    memory.limiter?.start(item.positions.length, context.clock.monotonic());
    provider.rate?.start(item.positions.length);
    answered.then(
      (outcome) => {
        if (this.#ended(item)) this.#passed(item);
        // An acceptance is recorded even where the request was given up.
        held.record(item, Object.assign(outcome, { intended: item }));
      },
      (error: unknown) => {
        if (this.#ended(item)) this.#failed(item, failureOf(error));
      },
    );
  }

  abort(): void {
    this.#inFlight.abort();
  }

  /** A transport that throws synchronously or returns an invalid answer fails only this request. */
  async #exchange(item: PreparedSubmission, provider: ProviderState, signal: AbortSignal) {
    return acceptanceOf(item, await provider.submit(item.submission, signal));
  }

  /** @returns false where the request had already ended */
  #ended(item: PreparedSubmission): boolean {
    const { context, leased } = this.held;
    leased.changed.wake();
    if (!this.#inFlight.end(item)) return false;
    const provider = this.held.provider(item.provider);
    provider.slots.giveBack();
    if (provider.honoursKeys) context.outcomes.expect(-1);
    return true;
  }

  #passed({ batch, provider }: PreparedSubmission): void {
    const { context, memory, pause } = this.held;
    memory.failuresOf(provider).passed(batch);
    this.held.provider(provider).servedAt = context.clock.monotonic();
    pause.end(provider);
  }

  #failed(item: PreparedSubmission, failure: SubmitFailureRecord): void {
    const { held } = this;
    const { kind, code: errorCode } = failure;
    if (kind === 'permanent') {
      this.#passed(item);
      held.record(item, { result: 'rejected', errorCode });
      return;
    }
    const { clock, maxAttempts, retryFor } = held.context;
    const { batch, submission, dueSince } = item;
    const { servedAt, capabilities } = held.provider(item.provider);
    const failures = held.memory.failuresOf(item.provider);
    const overdue = clock.monotonic() - dueSince > retryFor;
    const counts = kind !== 'paused' && failures.costsAttempt(batch, { servedAt, overdue });
    const exhausted = counts && submission.attempt >= maxAttempts;
    const aside = this.#rest(item, failure);
    // A refused resend does not reveal the outcome of the earlier try, whose answer was lost.
    if (kind !== 'uncertain' && item.resendAt === undefined)
      held.record(item, {
        result: 'refused',
        errorCode,
        exhausted,
        ...(counts && { attempts: submission.attempt }),
        ...(aside > 0 && { parkFor: aside }),
      });
    else if (exhausted || ageOf(item, clock) >= capabilities.idempotencyWindow)
      held.record(item, { result: 'unknown', errorCode });
    else {
      const attempt = submission.attempt + (counts ? 1 : 0);
      if (counts) failures.counts(batch, submission.id, attempt);
      const again = { ...item, submission: { ...submission, attempt } };
      this.resends.add(again, clock.monotonic() + aside);
    }
    if (exhausted) failures.forget(batch);
  }

  /** Also withdraws what is prepared, for new policy decisions. Returns the batch's wait in ms. */
  #rest(
    { batch, provider }: PreparedSubmission,
    { kind, code, message, retryAfter }: SubmitFailureRecord,
  ): number {
    const { context, memory, pause } = this.held;
    const failures = memory.failuresOf(provider);
    const now = context.clock.monotonic();
    const restFor = pause.restFor(provider);
    let aside = 0;
    // Requests in flight together fail together, so they count as one failure.
    if (kind === 'paused') {
      const wait = restFor > 0 ? restFor : Math.min(LONGEST_PAUSE, failures.refused());
      pause.rest(provider, retryAfter ?? wait, `${code}: ${message}`);
    } else if (restFor > 0) return failures.asideFor(batch, now);
    else {
      const failed = failures.failed(batch, now, retryAfter);
      pause.rest(provider, failed.rest, null);
      ({ aside } = failed);
    }
    this.prefetch.withdraw();
    return aside;
  }
}
