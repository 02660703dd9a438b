import type { DeliveryReport } from '../message/events.js';
import type { Clock } from '../ports/clock.js';
import type {
  MessageTransport,
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
} from '../ports/message-transport.js';
import type { MessagingMetrics, PassReason } from '../ports/metrics.js';
import type { MessagingTracing } from '../ports/tracing.js';
import type { Lanes } from '../store/verbs/lanes.js';
import type { ProviderBreaker } from './provider-breaker.js';
import { FailureLog } from './failure-log.js';
import { CountedStart, RateLimiter } from './rate-limiter.js';
import type { WakeSignal } from './leased-lane.js';

/** Ratio of the slot distance to that of the limit; covers late starts, groups, and jitter on the way. */
const MARGIN = 1.018;
/** Share of `per` by which a start may be late. */
const LATE = 0.01;
/** Share of `max` that may start together. */
const TOGETHER = 0.004;
/** Calls after which slots are used although the time of the database is known less exactly. */
const MOST_CALLS = 5;
/** Span of the slots that one query reserves, in milliseconds. */
const RESERVED_SPAN = 100;
/** Wait before the next check while a reservation is under way, in milliseconds. */
const CHECK_INTERVAL = 2;

/** State of one provider, shared by all lanes of the process. */
export class ProviderState {
  readonly slots: RequestSlots;
  readonly failures: FailureLog;
  /** Time when the provider last served a request of any lane, on the monotonic clock. */
  servedAt = -Infinity;
  /** Whether the transport has told of a write. */
  tellsWrites = false;
  readonly passes = new Map<PassReason, number>();

  constructor(
    readonly name: string,
    private readonly transport: MessageTransport,
    readonly rate: ProviderRate | undefined,
    private readonly tracing: MessagingTracing | undefined,
    private readonly metrics: MessagingMetrics | undefined,
    readonly breaker: ProviderBreaker,
  ) {
    this.failures = new FailureLog(name);
    this.slots = new RequestSlots(transport.capabilities.connections);
  }

  /** Later messages of their lane have passed so many. */
  passed(reason: PassReason, messages: number): void {
    this.passes.set(reason, (this.passes.get(reason) ?? 0) + messages);
  }

  get capabilities(): TransportCapabilities {
    return this.transport.capabilities;
  }

  get honoursKeys(): boolean {
    return this.transport.capabilities.idempotencyWindow > 0;
  }

  /** Why no request can leave now, `code: text`; `null`: nothing is known, `undefined`: it does not tell. */
  get trouble(): string | null | undefined {
    return this.transport.trouble && (this.transport.trouble() ?? null);
  }

  get canBeAsked(): boolean {
    return this.transport.fetchReports !== undefined;
  }

  /** Reports of submissions without an answer. */
  async reportsOf(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    return (await this.transport.fetchReports?.(submissions, signal)) ?? [];
  }

  submit(
    submission: Submission,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<SubmissionAccepted> {
    return this.metrics
      ? this.#measured(this.metrics, submission, signal, written)
      : this.#traced(submission, signal, written);
  }

  async #measured(
    metrics: MessagingMetrics,
    submission: Submission,
    signal: AbortSignal,
    written: (() => void) | undefined,
  ): Promise<SubmissionAccepted> {
    const { channel, recipients } = submission;
    const begun = performance.now();
    const ended = (error?: unknown) =>
      metrics.submitted({
        channel,
        provider: this.name,
        messages: recipients.length,
        seconds: (performance.now() - begun) / 1_000,
        ...(error !== undefined && { error }),
      });
    try {
      const accepted = await this.#traced(submission, signal, written);
      ended();
      return accepted;
    } catch (error) {
      ended(error ?? null);
      throw error;
    }
  }

  /** With tracing, the request is a step of the trace in which the message was sent. */
  #traced(
    submission: Submission,
    signal: AbortSignal,
    written: (() => void) | undefined,
  ): Promise<SubmissionAccepted> {
    const { transport, tracing } = this;
    const { id, channel, recipients, attempt, trace } = submission;
    if (!tracing || !trace) return transport.submit(submission, signal, written);
    return tracing.step(
      {
        operation: 'submit',
        type: 'send',
        kind: 'client',
        channel,
        id,
        messages: recipients.length,
        attributes: { 'dundun.transport': this.name, 'dundun.attempt': attempt },
        parent: trace,
        quiet: transport.capabilities.passesTraceOn ?? false,
      },
      (own) => transport.submit({ ...submission, trace: own ?? trace }, signal, written),
    );
  }
}

export class ProviderStates extends Map<string, ProviderState> {}

/**
 * Limits the requests of all lanes of a process to the transport's connections, in turns. A request
 * queued inside the transport would start even where rate or policy then forbid it.
 */
export class RequestSlots {
  #taken = 0;
  /** In the order of their turns. The first ones have a slot each, also while they ask policies. */
  readonly #waiting = new Set<WakeSignal>();

  constructor(private readonly most = Infinity) {}

  /** @returns false where all slots are taken; `lane` is then woken on its turn */
  free(lane: WakeSignal): boolean {
    this.#waiting.add(lane);
    let left = this.most - this.#taken;
    for (const next of this.#waiting) {
      if (left-- <= 0) return false;
      if (next === lane) return true;
    }
    return false;
  }

  take(lane: WakeSignal): void {
    this.#taken++;
    this.#waiting.delete(lane);
  }

  giveBack(): void {
    this.#taken--;
    this.#wakeNext();
  }

  leave(lane: WakeSignal): void {
    if (this.#waiting.delete(lane)) this.#wakeNext();
  }

  /** Wakes the lane to which the slot goes that has just come free. */
  #wakeNext(): void {
    let left = this.most - this.#taken;
    for (const lane of this.#waiting) if (--left === 0) return lane.wake();
  }
}

/**
 * One limit for a provider over all lanes and replicas. Start times are slots reserved in the
 * database, evenly spaced, each for one message. An unused slot is forfeited, and a group starts at
 * its first slot, so that starts never exceed `max` in any window of `per`. Only a resend prepared
 * before the limit was lowered may exceed a group; it uses up the slots around it.
 */
export class ProviderRate {
  readonly #interval: number;
  readonly #late: number;
  readonly #together: number;
  /** Monotonic milliseconds, ascending. */
  #slots: number[] = [];
  /** Further slots that are forfeited once they are reserved. */
  #owed = 0;
  #reserving = false;
  /**
   * Milliseconds by which the database's clock is ahead of ours, at most. A call that takes long gives
   * a larger value; the least one is kept, so that slots of later reservations move apart only.
   */
  #ahead = Infinity;
  /** Time of the call that gave it: so much earlier than meant a slot may be. */
  #aheadWithin = Infinity;
  #calls = 0;
  /** Of the starts of this process, whatever the delay of each. */
  readonly #own: RateLimiter;

  constructor(
    private readonly lanes: Pick<Lanes, 'reserve'>,
    private readonly clock: Clock,
    private readonly key: string,
    max: number,
    per: number,
  ) {
    this.#late = per * LATE;
    this.#together = Math.max(1, Math.floor(max * TOGETHER));
    this.#interval = (per * MARGIN) / max;
    this.#own = new RateLimiter(max, per);
  }

  share(wanted: number): number {
    return Math.min(wanted, this.#together);
  }

  /** Milliseconds until `n` messages may start together, as far as known. */
  delay(n: number, now: number): number {
    const stale = this.#slots.findIndex((slot) => slot + this.#late >= now);
    if (stale !== 0) this.#slots.splice(0, stale < 0 ? this.#slots.length : stale);
    const [first] = this.#slots;
    if (first !== undefined && this.#slots.length >= this.#need(n))
      return Math.max(0, first - now, this.#own.delay(n, now));
    void this.#reserve(this.#need(n));
    return CHECK_INTERVAL;
  }

  /**
   * @param now after the request was handed on
   * @param isTold whether the transport tells of its writes
   */
  start(n: number, now: number, started = new CountedStart(now), isTold = false): void {
    started.countIn(this.#own, n, now, isTold);
    const need = this.#need(n);
    const isLate = now > (this.#slots[0] ?? now) + this.#late;
    this.#slots.splice(0, need);
    if (!isLate) return;
    // The system stopped the process after its look at the time: the start takes slots that are still to come.
    this.#slots = this.#slots.filter((slot) => slot > now);
    this.#owed += need;
    this.#forfeit();
  }

  #forfeit(): void {
    this.#owed -= this.#slots.splice(0, this.#owed).length;
  }

  #need(n: number): number {
    return n > this.#together ? 2 * n : n;
  }

  async #reserve(n: number): Promise<void> {
    if (this.#reserving) return;
    this.#reserving = true;
    const count = Math.max(n, Math.ceil(RESERVED_SPAN / this.#interval));
    const calledAt = this.clock.monotonic();
    try {
      const { first, now } = await this.lanes.reserve(this.key, count, this.#interval);
      // The database read its clock between call and answer, unless the clock was set forward.
      const wasSet = now - this.clock.monotonic() > this.#ahead;
      if (wasSet) this.#ahead = Infinity;
      if (now - calledAt < this.#ahead) {
        this.#ahead = now - calledAt;
        this.#aheadWithin = this.clock.monotonic() - calledAt;
      }
      // Slots of a slow first call would come before their time, and before those of other processes.
      if (this.#aheadWithin > this.#late && this.#calls++ < MOST_CALLS) return;
      const from = first - this.#ahead;
      for (let slot = 0; slot < count; slot++) this.#slots.push(from + slot * this.#interval);
      this.#forfeit();
    } catch {
      // The drain asks again, and nothing starts without a slot.
    } finally {
      this.#reserving = false;
    }
  }
}
