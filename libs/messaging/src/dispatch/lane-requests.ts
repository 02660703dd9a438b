import { SubmitFailure } from '../message/errors.js';
import { checkedAnswer } from '../ports/submission-answer.js';
import type { Failed } from './failure-policy.js';
import type { HeldLane } from './held-lane.js';
import { InFlight } from './in-flight.js';
import type { Prefetch } from './prefetch.js';
import { storable } from './provider-breaker.js';
import { Refusals } from './refusals.js';
import type { Resends } from './resends.js';
import { ageOf, lateOutcomeOf, nextAttempt, type PreparedSubmission } from './submissions.js';
import { acceptanceOf, factsOf, type Failure, failureOf } from './submit-answers.js';

/** Time after which a probe without an answer no longer holds other requests back, in ms. */
const PROBE_LASTS = 1_000;

/** The requests of a lane: their start, and the effect of their answers on message, batch and lane. */
export class LaneRequests {
  readonly #inFlight: InFlight<PreparedSubmission>;
  /** Start of the latest request, in monotonic milliseconds. */
  #startedAt = -Infinity;

  constructor(
    private readonly held: HeldLane,
    private readonly prefetch: Prefetch,
    private readonly resends: Resends,
  ) {
    this.#inFlight = new InFlight(
      held.context.timeout,
      (item) => this.#failed(item, undefined),
      held.context.waves,
    );
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
      // No request was made.
      void held.record(item, { ...skipped, attempts: item.submission.attempt - 1 });
      return;
    }
    provider.slots.take(leased.changed);
    provider.breaker.started(leased.lane);
    // Without idempotency keys, an outcome is recorded at once: a submission without an outcome
    // becomes `unknown` if the process dies.
    if (provider.honoursKeys) context.outcomes.expect(1);
    const signal = this.#inFlight.begin(item, provider.capabilities.timeout);
    held.inFlight.set(item.provider, (held.inFlight.get(item.provider) ?? 0) + 1);
    this.#startedAt = held.now;
    // A transport that throws synchronously or returns an invalid answer fails only this request.
    const answered = (async () => {
      const answer = await provider.submit(item.submission, signal);
      const checked = checkedAnswer(provider.name, item.submission, answer);
      const others = checked.unroutable?.size ? this.#othersAfter(item, true) : undefined;
      return acceptanceOf(item, checked, others?.next ? others.written : undefined);
    })();
    // Counted after the call, so that a pause between the two does not date the start too early.
    memory.limiter?.start(item.positions.length, held.now);
    provider.rate?.start(item.positions.length, held.now);
    answered.then(
      (outcome) => {
        if (this.#ended(item)) this.#passed(item);
        // An acceptance is recorded even where the request was given up.
        void held.record(item, Object.assign(outcome, { intended: item }));
      },
      (error: unknown) => this.#failed(item, error),
    );
  }

  /**
   * Milliseconds for which the requests in flight hold the others back while `provider` is probed;
   * `Infinity`: until an answer. Without keys each further request could become `unknown`, too.
   */
  probeLasts(provider: string): number {
    if (this.inFlight === 0) return 0;
    if (!this.held.provider(provider).honoursKeys) return Infinity;
    return Math.max(0, this.#startedAt + PROBE_LASTS - this.held.now);
  }

  abort(): void {
    this.#inFlight.abort();
  }

  /** @returns false where the request had already ended */
  #ended(item: PreparedSubmission): boolean {
    const { context, leased } = this.held;
    leased.changed.wake();
    if (!this.#inFlight.end(item)) return false;
    this.held.inFlight.set(item.provider, (this.held.inFlight.get(item.provider) ?? 1) - 1);
    const provider = this.held.provider(item.provider);
    provider.slots.giveBack();
    if (provider.honoursKeys) context.outcomes.expect(-1);
    return true;
  }

  #passed(item: PreparedSubmission): void {
    const { held } = this;
    const { batch, provider } = item;
    held.memory.failuresOf(provider).passed(item);
    const state = held.provider(provider);
    state.servedAt = held.now;
    state.failures.passed(batch);
    state.breaker.passed();
    held.pause.end(provider);
  }

  #failed(item: PreparedSubmission, error: unknown): void {
    if (!this.#ended(item)) return;
    const { held } = this;
    const { maxAttempts } = held.context;
    const failure = failureOf(error);
    const { kind, uncertain } = failure;
    const facts = factsOf(failure);
    if (kind === 'permanent') {
      this.#passed(item);
      const others = failure.unroutable ? this.#othersAfter(item, true) : undefined;
      if (others && !others.over) {
        void held.record(item, { result: 'refused', ...facts, refusedBy: others.written });
        return;
      }
      const { status, details } = failure;
      void held.record(item, {
        result: 'rejected',
        ...facts,
        ...(status !== undefined && { status }),
        ...(details && { details }),
      });
      return;
    }
    if (kind === 'deferred') return this.#deferred(item, failure);
    // The lane's pause logs by itself.
    if (kind !== 'paused')
      held
        .provider(item.provider)
        .failures.failed(item, failure, error instanceof SubmitFailure ? undefined : error);
    const { parkFor, counts } = this.#rest(item, failure);
    const countedFailures = item.countedFailures + counts;
    const others = uncertain ? undefined : this.#othersAfter(item, false);
    if (others?.next) {
      // At once, and without a wait: by the next provider of the route.
      void held.record(item, {
        result: 'refused',
        ...facts,
        countedFailures,
        refusedBy: others.written,
      });
      return;
    }
    const exhausted = (counts > 0 || others !== undefined) && countedFailures >= maxAttempts;
    // A refused resend does not reveal the outcome of the earlier try, whose answer was lost.
    if (uncertain || item.resendAt !== undefined)
      this.#doubted({ ...item, countedFailures }, failure, { parkFor, exhausted });
    else {
      void held.record(item, {
        result: 'refused',
        ...facts,
        exhausted,
        countedFailures,
        ...(others && { refusedBy: others.written }),
        ...(parkFor > 0 && { waitFor: parkFor }),
      });
      if (exhausted) held.memory.failuresOf(item.provider).forget(item);
    }
  }

  /**
   * After a definite refusal of a submission, the providers of its route; `undefined`: it has one alone,
   * or the provider may have it from an earlier request, and keeps it.
   */
  #othersAfter(
    { provider, resendAt, refusedBy, submission }: PreparedSubmission,
    isFinal: boolean,
  ) {
    if (resendAt !== undefined) return undefined;
    const { router } = this.held.context;
    const [recipient = ''] = submission.recipients;
    const route = router.routesOf(submission)(recipient);
    const names = route ? router.candidates(route, submission.id) : [];
    return names.length > 1 ? new Refusals(refusedBy).with(provider, isFinal, names) : undefined;
  }

  /** The provider may have the submission: it is asked, where it can be, and gets it again. */
  #doubted(
    item: PreparedSubmission,
    failure: Failure,
    { parkFor, exhausted }: { readonly parkFor: number; readonly exhausted: boolean },
  ): void {
    const { held } = this;
    const facts = factsOf(failure);
    const { idempotencyWindow } = held.provider(item.provider).capabilities;
    const failures = held.memory.failuresOf(item.provider);
    const isOver =
      failure.kind === 'lost' ||
      held.asks(item) ||
      ageOf(item, held.context.clock) >= idempotencyWindow;
    if (isOver || (exhausted && !held.finds(item))) {
      failures.forget(item);
      return held.recordUnknown(item, facts);
    }
    held.doubt(item, facts);
    this.resends.add({ ...again(item), doubt: facts }, held.now + parkFor);
  }

  /** The provider answers, so that the lane goes on; only this submission waits. */
  #deferred(item: PreparedSubmission, failure: Failure): void {
    const { held } = this;
    const { details, retryAfter = 0, giveUpAfter = Infinity } = failure;
    this.#passed(item);
    const facts = { ...factsOf(failure), ...(details && { details }) };
    if (held.now - item.dueSince >= giveUpAfter)
      void held.record(item, { result: 'expired', ...facts });
    // An earlier try without an answer may have been accepted: it is repeated unchanged.
    else if (item.resendAt !== undefined) this.resends.add(again(item), held.now + retryAfter);
    else
      void held.record(item, { result: 'refused', ...facts, waitFor: retryAfter, deferred: true });
  }

  /** Also withdraws prepared submissions, for new policy decisions. */
  #rest(item: PreparedSubmission, failure: Failure): Pick<Failed, 'parkFor' | 'counts'> {
    const { provider, resendAt, dueSince } = item;
    const { context, memory, pause, now } = this.held;
    const state = this.held.provider(provider);
    const failures = memory.failuresOf(provider);
    const restFor = pause.restFor(provider);
    const { kind, uncertain, code, message, retryAfter } = failure;
    const reason = kind === 'paused' ? `${code}: ${message}` : null;
    // The submission is resent by itself, so that others need not wait for it, unless all have to.
    const apart =
      uncertain && retryAfter === undefined && context.concurrency > 1 && state.honoursKeys;
    // Requests in flight together fail together, so they count as one failure.
    if (kind === 'paused' && !apart) {
      const wait = restFor > 0 ? restFor : failures.refused();
      pause.rest(provider, retryAfter ?? wait, reason);
      state.breaker.open(wait, retryAfter, storable(`${code}: ${message}`));
      this.prefetch.withdraw();
      // With a concurrency of 1 a lane keeps its order.
      const mayStep = code === 'throttled' && context.concurrency > 1;
      const parkFor = mayStep ? failures.throttled(item, now, pause.restFor(provider)) : 0;
      return { parkFor, counts: 0 };
    }
    if (restFor > 0 && !(apart && resendAt !== undefined))
      return { parkFor: failures.parkedFor(item, now), counts: 0 };
    const failed = failures.failed(item, now, {
      retryAfter,
      apart,
      again: resendAt !== undefined,
      asked: uncertain && this.held.finds(item),
      paused: kind === 'paused',
      servedAt: state.servedAt,
      overdue: now - dueSince > context.retryFor,
    });
    if (failed.rest > 0 || reason !== null) pause.rest(provider, failed.rest, reason);
    if (failures.probing) this.prefetch.withdraw();
    return failed;
  }
}

/** The next request with the submission. */
function again(item: PreparedSubmission): PreparedSubmission {
  const attempt = nextAttempt(item.submission.attempt);
  return { ...item, submission: { ...item.submission, attempt } };
}
