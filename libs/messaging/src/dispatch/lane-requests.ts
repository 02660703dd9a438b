import { SubmitFailure } from '../message/errors.js';
import { checkedAnswer } from '../ports/submission-answer.js';
import type { Failed } from './failure-history.js';
import type { LeasedWork } from './leased-work.js';
import { InFlight } from './in-flight.js';
import type { Prefetch } from './prefetch.js';
import { storable } from './provider-breaker.js';
import { CountedStart } from './rate-limiter.js';
import { Refusals } from './refusals.js';
import type { Resends } from './resends.js';
import { ageOf, lateOutcomeOf, nextAttempt, type PreparedSubmission } from './submissions.js';
import { acceptanceOf, factsOf, type Failure, failureOf, THROTTLED } from './submit-answers.js';
import { courseOf, LANE_PROBE_LASTS, type Situation, situationOf } from './waits.js';

/** The requests of a lane: their start, and the effect of their answers on message, batch and lane. */
export class LaneRequests {
  readonly #inFlight: InFlight<PreparedSubmission>;
  /** Start of the latest request, in monotonic milliseconds. */
  #startedAt = -Infinity;

  constructor(
    private readonly work: LeasedWork,
    private readonly prefetch: Prefetch,
    private readonly resends: Resends,
  ) {
    this.#inFlight = new InFlight(
      work.context.timeout,
      (item) => this.#failed(item, undefined),
      work.context.waves,
    );
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  get settled(): boolean {
    return this.inFlight === 0 && this.work.recording === 0;
  }

  start(item: PreparedSubmission): void {
    const { work } = this;
    const { context, memory, leased } = work;
    const provider = work.provider(item.provider);
    const skipped =
      item.skipOutcome ??
      lateOutcomeOf(item, context.clock, provider.capabilities.idempotencyWindow);
    if (skipped) {
      // No request was made.
      void work.record(item, { ...skipped, attempts: item.submission.attempt - 1 });
      return;
    }
    provider.slots.take(leased.changed);
    provider.breaker.started(leased.lane);
    const passed = memory.order.started(item);
    if (passed) provider.passed(passed, item.positions.length);
    // Without idempotency keys, an outcome is recorded at once: a submission without an outcome
    // becomes `unknown` if the process dies.
    if (provider.honoursKeys) context.outcomes.expect(1);
    const signal = this.#inFlight.begin(item, provider.capabilities.timeout);
    work.inFlight.set(item.provider, (work.inFlight.get(item.provider) ?? 0) + 1);
    this.#startedAt = work.now;
    const isLimited = memory.limiter !== undefined || provider.rate !== undefined;
    const started = isLimited ? new CountedStart(work.now) : undefined;
    const written =
      started &&
      (() => {
        provider.tellsWrites = true;
        started.written(work.now);
      });
    // A transport that throws synchronously or returns an invalid answer fails only this request.
    const answered = (async () => {
      const answer = await provider.submit(item.submission, signal, written);
      const checked = checkedAnswer(provider.name, item.submission, answer);
      const others = checked.unroutable?.size ? this.#others(item, true) : undefined;
      return acceptanceOf(item, checked, others?.next ? others.written : undefined);
    })();
    // Counted after the call, so that a pause between the two does not date the start too early.
    if (started) this.#count(started, item);
    answered.then(
      (outcome) => {
        if (this.#ended(item)) this.#passed(item);
        // An acceptance is recorded even where the request was given up.
        void work.record(item, outcome);
      },
      (error: unknown) => this.#failed(item, error),
    );
  }

  #count(started: CountedStart, { positions, provider }: PreparedSubmission): void {
    const { memory, now } = this.work;
    const state = this.work.provider(provider);
    if (memory.limiter) started.countIn(memory.limiter, positions.length, now, state.tellsWrites);
    state.rate?.start(positions.length, now, started, state.tellsWrites);
  }

  /**
   * Milliseconds for which the others wait for the requests in flight while `provider` is probed;
   * `Infinity`: until an answer. Without keys each further request could become `unknown`, too.
   */
  probeLasts(provider: string): number {
    if (this.inFlight === 0) return 0;
    if (!this.work.provider(provider).honoursKeys) return Infinity;
    return Math.max(0, this.#startedAt + LANE_PROBE_LASTS - this.work.now);
  }

  abort(): void {
    this.#inFlight.abort();
  }

  /** @returns false where the request had already ended */
  #ended(item: PreparedSubmission): boolean {
    const { context, leased } = this.work;
    leased.changed.wake();
    if (!this.#inFlight.end(item)) return false;
    this.work.inFlight.set(item.provider, (this.work.inFlight.get(item.provider) ?? 1) - 1);
    const provider = this.work.provider(item.provider);
    provider.slots.giveBack();
    if (provider.honoursKeys) context.outcomes.expect(-1);
    return true;
  }

  #passed(item: PreparedSubmission): void {
    const { work } = this;
    const { batch, provider } = item;
    work.memory.failuresOf(provider).passed(item);
    const state = work.provider(provider);
    state.servedAt = work.now;
    state.failures.passed(batch);
    state.breaker.passed();
    work.pause.end(provider);
  }

  #failed(item: PreparedSubmission, error: unknown): void {
    if (!this.#ended(item)) return;
    const failure = failureOf(error, item.submission);
    const { kind } = failure;
    const { provider, resendAt } = item;
    const { context, pause } = this.work;
    const state = this.work.provider(provider);
    const isAnswer = kind === 'permanent' || kind === 'deferred';
    const pausedFor = isAnswer ? 0 : pause.pausedFor(provider);
    const situation = situationOf({
      failure,
      concurrency: context.concurrency,
      honoursKeys: state.honoursKeys,
      isResend: resendAt !== undefined,
      pausedFor,
    });
    // The lane's pause logs by itself.
    if (!isAnswer && kind !== 'paused')
      state.failures.failed(item, failure, error instanceof SubmitFailure ? undefined : error);
    const failed = this.#apply(item, failure, situation, pausedFor);
    this.#passable(item, failure, situation, failed.message);
    const countedFailures = item.countedFailures + failed.counts;
    this.#record({ ...item, countedFailures }, failure, situation, failed);
  }

  /**
   * Lets the provider pause and the lane back off, and withdraws prepared submissions, for new policy
   * decisions. Returns the wait of the message.
   */
  #apply(
    item: PreparedSubmission,
    failure: Failure,
    situation: Situation,
    pausedFor: number,
  ): Failed {
    const { provider } = item;
    const { pause, memory } = this.work;
    if (situation === 'rejected' || situation === 'deferred') this.#passed(item);
    if (situation === 'throttled') {
      this.#apply(item, failure, 'paused', pausedFor);
      return this.#tracked(item, failure, situation, pause.pausedFor(provider));
    }
    const failed = this.#tracked(item, failure, situation, pausedFor);
    const reason = `${failure.code}: ${failure.message}`;
    if (situation === 'paused') {
      pause.add(provider, failed.pause, reason);
      this.work.provider(provider).breaker.open(failed.pause, failure.retryAfter, storable(reason));
      this.prefetch.withdraw();
    } else if (failed.counted !== 'never' || situation === 'paused in doubt') {
      const isShown = situation === 'paused in doubt';
      if (failed.backoff > 0 || isShown)
        pause.add(provider, failed.backoff, isShown ? reason : null);
      if (memory.failuresOf(provider).probing) this.prefetch.withdraw();
    }
    return failed;
  }

  #tracked(
    item: PreparedSubmission,
    failure: Failure,
    situation: Situation,
    pausedFor: number,
  ): Failed {
    const { provider, resendAt, dueSince } = item;
    const { context, memory, now } = this.work;
    return memory.failuresOf(provider).failed(item, now, situation, {
      asked: failure.retryAfter,
      pausedFor,
      isResend: resendAt !== undefined,
      canBeAsked: failure.uncertain && this.work.finds(item),
      servedAt: this.work.provider(provider).servedAt,
      overdue: now - dueSince > context.retryFor,
    });
  }

  /** Why later messages may pass this one until its next start. */
  #passable(
    item: PreparedSubmission,
    { code, uncertain }: Failure,
    situation: Situation,
    wait: number,
  ): void {
    const { order } = this.work.memory;
    if (situation === 'rejected') return;
    if (situation === 'deferred') order.waits(item, 'deferred');
    else if (wait > 0) order.waits(item, 'parked');
    // A refused resend may still have been accepted by an earlier try.
    else if ((uncertain || item.resendAt !== undefined) && code !== THROTTLED)
      order.waits(item, 'uncertain');
    else order.refused(item);
  }

  /** Records what becomes of the messages. */
  #record(
    item: PreparedSubmission,
    failure: Failure,
    situation: Situation,
    { message: wait, counts }: Failed,
  ): void {
    const { work } = this;
    const { context, now } = work;
    const { kind, uncertain, code, status, details, giveUpAfter = Infinity } = failure;
    const { countedFailures } = item;
    const others = this.#othersAfter(item, failure);
    const course = courseOf({
      situation,
      others,
      // A refused resend does not reveal the outcome of the earlier try, whose answer was lost.
      mayHaveIt: uncertain || item.resendAt !== undefined,
      isRepeatable: kind !== 'lost' && !work.asks(item) && this.#honoursKeyOf(item),
      canBeAsked: work.finds(item),
      isExpired: now - item.dueSince >= giveUpAfter,
      counts,
      countedFailures,
      maxAttempts: context.maxAttempts,
    });
    const doubt = factsOf(failure);
    const facts = { ...doubt, ...(details && { details }) };
    const refusedBy = others && { refusedBy: others.written };
    switch (course) {
      case 'rejected':
        return void work.record(item, {
          result: 'rejected',
          ...facts,
          ...(status !== undefined && { status }),
        });
      case 'expired':
        return void work.record(item, { result: 'expired', ...facts });
      case 'to the next provider':
      case 'queued':
      case 'failed': {
        if (course === 'failed') work.memory.failuresOf(item.provider).forget(item);
        const goesOn = course === 'to the next provider';
        return void work.record(item, {
          result: 'refused',
          ...facts,
          countedFailures,
          exhausted: course === 'failed',
          deferFor: goesOn ? 0 : wait,
          deferred: situation === 'deferred' && !goesOn,
          ...refusedBy,
        });
      }
      case 'sent again':
        if (situation === 'deferred') return this.resends.add(again(item), now + wait);
        work.doubt(item, doubt);
        // A provider that is only busy is not asked: the resend keeps its place.
        return this.resends.add({ ...again(item), doubt }, now + wait, code === THROTTLED);
      case 'unknown':
        work.memory.failuresOf(item.provider).forget(item);
        return work.recordUnknown(item, doubt);
    }
  }

  #honoursKeyOf(item: PreparedSubmission): boolean {
    const { capabilities } = this.work.provider(item.provider);
    return ageOf(item, this.work.context.clock) < capabilities.idempotencyWindow;
  }

  /** The providers of the route after a definite refusal; `undefined`: the message keeps its own. */
  #othersAfter(
    item: PreparedSubmission,
    { kind, uncertain, unroutable = false }: Failure,
  ): ReturnType<Refusals['with']> | undefined {
    const isFinal = kind === 'permanent';
    if (uncertain || kind === 'deferred' || (isFinal && !unroutable)) return undefined;
    return this.#others(item, isFinal);
  }

  /** `undefined`: the route has one alone, or the provider may have the submission, and keeps it. */
  #others({ provider, resendAt, refusedBy, submission }: PreparedSubmission, isFinal: boolean) {
    if (resendAt !== undefined) return undefined;
    const { router } = this.work.context;
    const [recipient = ''] = submission.recipients;
    const route = router.routesOf(submission)(recipient);
    const names = route ? router.candidates(route, submission.id) : [];
    return names.length > 1 ? new Refusals(refusedBy).with(provider, isFinal, names) : undefined;
  }
}

/** The next request with the submission. */
function again(item: PreparedSubmission): PreparedSubmission {
  const attempt = nextAttempt(item.submission.attempt);
  return { ...item, submission: { ...item.submission, attempt } };
}
