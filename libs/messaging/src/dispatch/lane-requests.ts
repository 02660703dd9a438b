import type { Evidence } from './failure-policy.js';
import type { HeldLane } from './held-lane.js';
import { InFlight } from './in-flight.js';
import type { Prefetch } from './prefetch.js';
import { ageOf, lateOutcomeOf, type PreparedSubmission } from './submissions.js';
import { acceptanceOf, failureOf, type SubmitFailureRecord } from './submit-result.js';

/** Longest rest for a provider that refuses every request, in milliseconds. */
const LONGEST_PAUSE = 30_000;

/** Runs the lane's requests, and applies their results to the lane. */
export class LaneRequests {
  readonly #inFlight: InFlight<PreparedSubmission>;

  constructor(
    private readonly held: HeldLane,
    private readonly prefetch: Prefetch,
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
    // Without idempotency keys, an outcome is recorded at once: a submission without an outcome becomes `unknown` if
    // the process dies.
    if (provider.honoursKeys) context.outcomes.expect(1);
    const answered = this.#exchange(item, this.#inFlight.begin(item));
    // The limiter counts the start after the call, so that a pause between the two does not date the start too early.
    memory.limiter()?.start(item.positions.length, context.clock.monotonic());
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

  /** Aborts all requests in flight. */
  abort(): void {
    this.#inFlight.abort();
  }

  /** A transport that throws synchronously or returns an invalid answer fails only this request. */
  async #exchange(
    item: PreparedSubmission,
    signal: AbortSignal,
  ): Promise<ReturnType<typeof acceptanceOf>> {
    return acceptanceOf(
      item,
      await this.held.provider(item.provider).submit(item.submission, signal),
    );
  }

  /** @returns false where the request had already ended */
  #ended(item: PreparedSubmission): boolean {
    const { context, leased } = this.held;
    const ended = this.#inFlight.end(item);
    if (ended) {
      const provider = this.held.provider(item.provider);
      provider.slots.giveBack();
      if (provider.honoursKeys) context.outcomes.expect(-1);
    }
    leased.changed.wake();
    return ended;
  }

  #passed({ batch, provider }: PreparedSubmission): void {
    const { context, memory, pause } = this.held;
    memory.failuresOf(provider).passed(batch);
    this.held.provider(provider).servedAt = context.clock.monotonic();
    pause.end(provider);
  }

  #failed(item: PreparedSubmission, failure: SubmitFailureRecord): void {
    const { held } = this;
    const { kind, code } = failure;
    if (kind === 'permanent') {
      this.#passed(item);
      held.record(item, { result: 'rejected', errorCode: code });
      return;
    }
    const { context, memory } = held;
    const { attempt } = item.submission;
    const failures = memory.failuresOf(item.provider);
    const counts = kind !== 'paused' && failures.costsAttempt(item.batch, this.#evidenceOf(item));
    const exhausted = counts && attempt >= context.maxAttempts;
    const aside =
      kind === 'paused' ? this.#refused(item.provider, failure) : this.#strike(item, failure);
    // A refused resend does not reveal the outcome of the earlier try, whose answer was lost.
    if (kind !== 'uncertain' && !item.resent)
      held.record(item, {
        result: 'refused',
        errorCode: code,
        exhausted,
        ...(counts && { attempts: attempt }),
        ...(aside > 0 && { parkFor: aside }),
      });
    else if (exhausted || !this.#isResendable(item))
      held.record(item, { result: 'unknown', errorCode: code });
    else this.#resend(item, aside, counts);
    if (exhausted) failures.forget(item.batch);
  }

  #evidenceOf({ dueSince, provider }: PreparedSubmission): Evidence {
    const { context } = this.held;
    const overdue = context.clock.monotonic() - dueSince > context.retryFor;
    return { servedAt: this.held.provider(provider).servedAt, overdue };
  }

  #isResendable(item: PreparedSubmission): boolean {
    const { idempotencyWindow } = this.held.provider(item.provider).capabilities;
    return ageOf(item, this.held.context.clock) < idempotencyWindow;
  }

  #resend(item: PreparedSubmission, wait: number, counts: boolean): void {
    const { memory, context } = this.held;
    const attempt = item.submission.attempt + (counts ? 1 : 0);
    if (counts) memory.failuresOf(item.provider).counts(item.batch, item.submission.id, attempt);
    this.prefetch.resend(
      { ...item, submission: { ...item.submission, attempt } },
      context.clock.monotonic() + wait,
    );
  }

  /** Rests the lane for a provider that refuses every request, and shows the reason in the lane's row. */
  #refused(provider: string, { code, message, retryAfter }: SubmitFailureRecord): number {
    const { memory, pause } = this.held;
    const restFor = pause.restFor(provider);
    // Requests in flight together fail together, so they count as one failure.
    const wait =
      restFor > 0 ? restFor : Math.min(LONGEST_PAUSE, memory.failuresOf(provider).refused());
    this.#rest(provider, retryAfter ?? wait, `${code}: ${message}`);
    return 0;
  }

  /** @returns milliseconds the batch is set aside */
  #strike({ batch, provider }: PreparedSubmission, { retryAfter }: SubmitFailureRecord): number {
    const { context, memory, pause } = this.held;
    const failures = memory.failuresOf(provider);
    const now = context.clock.monotonic();
    if (pause.restFor(provider) > 0) return failures.asideFor(batch, now);
    const { rest, aside } = failures.failed(batch, now, retryAfter);
    this.#rest(provider, rest, null);
    return aside;
  }

  /** Rests the provider in this lane. Its prepared submissions are withdrawn, so that policies decide on them again. */
  #rest(provider: string, wait: number, reason: string | null): void {
    this.held.pause.rest(provider, wait, reason);
    this.prefetch.withdraw();
  }
}
