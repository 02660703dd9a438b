import { setMaxListeners } from 'node:events';
import {
  BouncedFailure,
  DeferredFailure,
  LostAnswerFailure,
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
} from '../message/errors.js';
import { identifier, word } from '../message/report-fields.js';
import type { SubmissionAccepted } from '../ports/message-transport.js';
import { checkedAnswer } from '../ports/submission-answer.js';
import type { Outcome } from '../store/rows/outcome.js';
import type { HeldLane } from './held-lane.js';
import type { Prefetch } from './prefetch.js';
import type { Resends } from './resends.js';
import { ageOf, lateOutcomeOf, type PreparedSubmission } from './submissions.js';

/** Time between the abort signal and giving up a request, in milliseconds. */
const GRACE = 5_000;
/** Time after which a probe without an answer no longer holds other requests back, in ms. */
const PROBE_LASTS = 1_000;
/**
 * Requests that start within this share of their time limit use one abort signal. One signal for
 * each request cost more than all other work per request.
 */
const SIGNAL_SHARE = 0.01;

/** The requests of a lane: their start, and what their answers mean for message, batch and lane. */
export class LaneRequests {
  readonly #inFlight: InFlight<PreparedSubmission>;
  /** Start of the latest request, in monotonic milliseconds. */
  #startedAt = -Infinity;

  constructor(
    private readonly held: HeldLane,
    private readonly prefetch: Prefetch,
    private readonly resends: Resends,
  ) {
    this.#inFlight = new InFlight(held.context.timeout, (item) => this.#failed(item, undefined));
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
    if (skipped) return held.record(item, skipped);
    provider.slots.take(leased.changed);
    // Without idempotency keys, an outcome is recorded at once: a submission without an outcome
    // becomes `unknown` if the process dies.
    if (provider.honoursKeys) context.outcomes.expect(1);
    const signal = this.#inFlight.begin(item, provider.capabilities.timeout);
    this.#startedAt = held.now;
    // A transport that throws synchronously or returns an invalid answer fails only this request.
    const answered = (async () => {
      const answer = await provider.submit(item.submission, signal);
      return acceptanceOf(item, checkedAnswer(provider.name, item.submission, answer));
    })();
    // Counted after the call, so that a pause between the two does not date the start too early.
    memory.limiter?.start(item.positions.length, held.now);
    provider.rate?.start(item.positions.length);
    answered.then(
      (outcome) => {
        if (this.#ended(item)) this.#passed(item);
        // An acceptance is recorded even where the request was given up.
        held.record(item, Object.assign(outcome, { intended: item }));
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
    const provider = this.held.provider(item.provider);
    provider.slots.giveBack();
    if (provider.honoursKeys) context.outcomes.expect(-1);
    return true;
  }

  #passed({ batch, provider }: PreparedSubmission): void {
    const { held } = this;
    held.memory.failuresOf(provider).passed(batch);
    const state = held.provider(provider);
    state.servedAt = held.now;
    state.failures.passed(batch);
    held.pause.end(provider);
  }

  #failed(item: PreparedSubmission, error: unknown): void {
    if (!this.#ended(item)) return;
    const { held } = this;
    const { clock, maxAttempts } = held.context;
    const failure = failureOf(error);
    const { kind, uncertain, code: errorCode } = failure;
    if (kind === 'permanent') {
      this.#passed(item);
      const { status, details } = failure;
      held.record(item, {
        result: 'rejected',
        errorCode,
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
    const { batch, submission } = item;
    const counts = kind !== 'paused' && held.costsAttempt(item);
    const exhausted = counts && submission.attempt >= maxAttempts;
    const aside = this.#rest(item, failure);
    const { idempotencyWindow } = held.provider(item.provider).capabilities;
    // A refused resend does not reveal the outcome of the earlier try, whose answer was lost.
    if (!uncertain && item.resendAt === undefined)
      held.record(item, {
        result: 'refused',
        errorCode,
        exhausted,
        ...(counts && { attempts: submission.attempt }),
        ...(aside > 0 && { parkFor: aside }),
      });
    else if (
      kind === 'lost' ||
      exhausted ||
      held.asks(item) ||
      ageOf(item, clock) >= idempotencyWindow
    )
      held.recordUnknown(item, errorCode);
    else {
      const attempt = submission.attempt + (counts ? 1 : 0);
      this.resends.add({ ...item, submission: { ...submission, attempt } }, held.now + aside);
    }
    if (exhausted) held.memory.failuresOf(item.provider).forget(batch);
  }

  /** The provider answers, so that the lane goes on; only this submission waits. */
  #deferred(item: PreparedSubmission, failure: Failure): void {
    const { held } = this;
    const { code: errorCode, details, retryAfter = 0, giveUpAfter = Infinity } = failure;
    this.#passed(item);
    const { attempt } = item.submission;
    const facts = { errorCode, ...(details && { details }) };
    if (held.now - item.dueSince >= giveUpAfter) held.record(item, { result: 'expired', ...facts });
    // An earlier try without an answer may have been accepted: it is repeated unchanged.
    else if (item.resendAt !== undefined) {
      const submission = { ...item.submission, attempt: attempt + 1 };
      this.resends.add({ ...item, submission }, held.now + retryAfter);
    } else
      held.record(item, { result: 'refused', ...facts, attempts: attempt, deferFor: retryAfter });
  }

  /** Also withdraws what is prepared, for new policy decisions. Returns the batch's wait in ms. */
  #rest({ batch, provider }: PreparedSubmission, failure: Failure): number {
    const { context, memory, pause, now } = this.held;
    const failures = memory.failuresOf(provider);
    const restFor = pause.restFor(provider);
    const { kind, uncertain, code, message, retryAfter } = failure;
    const reason = kind === 'paused' ? `${code}: ${message}` : null;
    // The submission is resent by itself, so that others need not wait for it, unless all have to.
    const apart =
      uncertain &&
      retryAfter === undefined &&
      context.concurrency > 1 &&
      this.held.provider(provider).honoursKeys;
    let aside = 0;
    // Requests in flight together fail together, so they count as one failure.
    if (kind === 'paused' && !apart) {
      const wait = restFor > 0 ? restFor : failures.refused();
      pause.rest(provider, retryAfter ?? wait, reason);
    } else if (restFor > 0) return failures.asideFor(batch, now);
    else {
      const failed = failures.failed(batch, now, { retryAfter, apart });
      pause.rest(provider, failed.rest, reason);
      ({ aside } = failed);
    }
    this.prefetch.withdraw();
    return aside;
  }
}

interface Wave<T> {
  readonly controller: AbortController;
  readonly items: Set<T>;
  readonly timeout: number;
  /** End of the interval in which requests join, on the `performance` clock. */
  readonly closing: number;
  readonly deadline: number;
  timer?: NodeJS.Timeout | undefined;
}

/** The requests in flight, in waves that share an abort signal and its timer. */
export class InFlight<T> {
  readonly #waves = new Map<T, Wave<T>>();
  /** The wave that requests join, by time limit. */
  readonly #latest = new Map<number, Wave<T>>();

  constructor(
    /** Time limit in milliseconds; the signal may abort up to 1% earlier. */
    private readonly timeout: number,
    /** Called for a request that ignores its signal. */
    private readonly giveUp: (item: T) => void,
  ) {}

  get size(): number {
    return this.#waves.size;
  }

  /** @param timeout time limit of this request, where it has its own */
  begin(item: T, timeout = this.timeout): AbortSignal {
    const now = performance.now();
    let wave = this.#latest.get(timeout);
    if (!wave || now >= wave.closing) this.#latest.set(timeout, (wave = this.#open(now, timeout)));
    this.#waves.set(item, wave);
    wave.items.add(item);
    wave.timer ??= setTimeout(() => this.#abort(wave), wave.deadline - now);
    return wave.controller.signal;
  }

  /** @returns false where the request had already ended */
  end(item: T): boolean {
    const wave = this.#waves.get(item);
    if (!wave) return false;
    this.#waves.delete(item);
    wave.items.delete(item);
    if (wave.items.size === 0) {
      clearTimeout(wave.timer);
      wave.timer = undefined;
    }
    return true;
  }

  abort(): void {
    for (const wave of new Set(this.#waves.values())) this.#abort(wave);
  }

  #open(now: number, timeout: number): Wave<T> {
    const controller = new AbortController();
    // Each request adds one listener, so the warning about a listener leak does not apply.
    setMaxListeners(0, controller.signal);
    const closing = now + timeout * SIGNAL_SHARE;
    return { controller, items: new Set(), timeout, closing, deadline: now + timeout };
  }

  #abort(wave: Wave<T>): void {
    if (wave.controller.signal.aborted) return;
    if (wave === this.#latest.get(wave.timeout)) this.#latest.delete(wave.timeout);
    clearTimeout(wave.timer);
    wave.controller.abort();
    wave.timer = setTimeout(() => wave.items.forEach((item) => this.giveUp(item)), GRACE);
    wave.timer.unref();
  }
}

const UNCERTAIN = { kind: 'retryable', uncertain: true } as const;

const MEANINGS = [
  [DeferredFailure, { kind: 'deferred', uncertain: false }],
  [PermanentFailure, { kind: 'permanent', uncertain: false }],
  [PausedFailure, { kind: 'paused', uncertain: false }],
  [LostAnswerFailure, { kind: 'lost', uncertain: true }],
  [PausedUncertainFailure, { kind: 'paused', uncertain: true }],
  [RetryableFailure, { kind: 'retryable', uncertain: false }],
] as const;

interface Failure extends Pick<SubmitFailure, 'code' | 'message'> {
  readonly kind: (typeof MEANINGS)[number][1]['kind'];
  /** The provider may have accepted the submission. */
  readonly uncertain: boolean;
  /** Wait that the provider asked for, in milliseconds. */
  readonly retryAfter?: number;
  /** Of a deferred message. */
  readonly giveUpAfter?: number;
  /** Status of a message that ends. */
  readonly status?: string;
  readonly details?: Readonly<Record<string, string | number | null>>;
}

/** Reads an error of `submit()`. An error that is none of the known failures is uncertain. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof SubmitFailure)) {
    const message =
      error === undefined
        ? 'The transport did not answer in time, not even to its abort signal'
        : `The transport threw ${error instanceof Error ? `${error.name}: ${error.message}` : typeof error}, which tells nothing of the request`;
    return { ...UNCERTAIN, code: 'transport_error', message };
  }
  const [, meaning = UNCERTAIN] = MEANINGS.find(([failure]) => error instanceof failure) ?? [];
  const { message, retryAfter = 0 } = error;
  // Where the wait is zero or no number, the backoff of the library applies.
  const isWait = Number.isFinite(retryAfter) && retryAfter > 0;
  const code = word(error.code) ?? 'transport_error';
  return {
    ...meaning,
    code,
    message,
    ...(isWait && { retryAfter }),
    ...(error instanceof DeferredFailure && { giveUpAfter: error.giveUpAfter }),
    ...(error instanceof BouncedFailure && { status: error.status }),
    ...((error instanceof BouncedFailure || error instanceof DeferredFailure) &&
      error.details && { details: detailsOf(error.details) }),
  };
}

/** Leaves out details that the store cannot keep, so that the acceptance is still recorded. */
function acceptanceOf(
  { positions, submission }: PreparedSubmission,
  accepted: SubmissionAccepted,
): Pick<Outcome, 'result' | 'reference' | 'messageIds' | 'rejected' | 'details'> {
  const result = { result: 'accepted' as const, reference: accepted.reference };
  if (!accepted.messageIds && !accepted.rejected && !accepted.details) return result;
  const details = detailsOf(accepted.details);
  const messageIds = new Map<number, string>();
  const rejected = new Map<number, string>();
  positions.forEach((position, member) => {
    const id = identifier(accepted.messageIds?.[member]);
    if (id !== null) messageIds.set(position, id);
    const recipient = submission.recipients[member] as string;
    if (accepted.rejected?.has(recipient))
      rejected.set(position, word(accepted.rejected.get(recipient)) ?? 'rejected');
  });
  return {
    ...result,
    ...(messageIds.size > 0 && { messageIds }),
    ...(rejected.size > 0 && { rejected }),
    ...(details && { details }),
  };
}

/** The details that the store can keep; `undefined` where none is left. */
function detailsOf(given: SubmissionAccepted['details']): SubmissionAccepted['details'] {
  const isDetail = (value: unknown) =>
    value === null || Number.isFinite(value) || identifier(value) !== null;
  const entries = Object.entries(typeof given === 'object' ? given : {}).filter(
    ([name, value]) => identifier(name) !== null && isDetail(value),
  );
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
