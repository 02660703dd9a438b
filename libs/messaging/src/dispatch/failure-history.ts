import { messageIdOf } from '../message/ids.js';
import { backoff } from './backoff.js';
import {
  batchBackoff,
  escalated,
  FAILURES_BEFORE_PROBE,
  type FailureFacts,
  isOutage,
  type Situation,
  type Wait,
  waitAfter,
} from './waits.js';

/** Age in milliseconds up to which a success shows that the provider works. */
const RECENT = 10_000;

/** The limit drops cancelled messages, which never succeed. */
const MAX_FAILING = 10_000;

/** A message is not tracked for them. */
const NOT_THE_MESSAGES: ReadonlySet<Situation> = new Set([
  'rejected',
  'deferred',
  'paused',
  'failed together',
]);

/** The messages of a submission: those of a refused one are submitted again with the same first one. */
interface Tried {
  readonly batch: string;
  readonly firstPosition: number;
}

/** Messages that failed. Times are monotonic milliseconds. */
interface FailingMessage {
  readonly batch: string;
  readonly since: number;
  failures: number;
  /** Refusals for the provider's rate. */
  throttles: number;
  /** Failures for which no evidence has been found yet. */
  uncounted: number;
  backsOffUntil: number;
  /** Another message succeeded meanwhile: the failures are this one's, not the provider's. */
  proven: boolean;
  alone: boolean;
  /** Another message is the probe meanwhile. */
  stepsAside: boolean;
}

/** Times are monotonic milliseconds, and waits milliseconds. */
export interface FailureContext extends Partial<
  Pick<FailureFacts, 'asked' | 'isResend' | 'canBeAsked' | 'pausedFor'>
> {
  /** When the provider last served a request of any lane. */
  readonly servedAt?: number;
  /** The message was tried for longer than an outage explains. */
  readonly overdue?: boolean;
}

export interface Failed extends Wait {
  /** Number of failures, this and earlier ones, that count against `maxAttempts` from now on. */
  readonly counts: number;
}

/**
 * The failures of a provider in a lane: what `waits.ts` needs to know of them, and whether they are the
 * provider's or a message's. It may be an outage, or a message that the provider never accepts: its
 * failures count only with evidence that the provider works: another message passes, or has passed lately
 * while nothing else fails. Without another message, a success in another lane decides, and finally the
 * age of the message:
 *
 * ```
 * flowing ──failure──▶ probing: one request at a time, growing backoffs ──success──▶ flowing
 *                        │ three failures of one message, or one uncertain answer: it backs off by itself
 *                        │ and the next message is the probe
 *                        ├─ the probe passes: the other message is proven, its failures count
 *                        ├─ the probe fails: an outage, in which nothing counts; the next message is the
 *                        │    probe, and those before come again when no other is left
 *                        └─ no other message: an outage, until another lane is served or the message is
 *                             overdue
 * ```
 *
 * The provider's breaker beside it is closed or open for all lanes: see `ProviderBreaker`.
 */
export class FailureHistory {
  #inARow = 0;
  readonly #failing = new Set<string>();
  readonly #batches = new Map<string, { messages: number; backsOffUntil: number }>();
  readonly #failingMessages = new Map<string, FailingMessage>();
  readonly #beforeProbe: number;

  /** @param base first backoff, in milliseconds */
  constructor(
    private readonly base: number,
    maxAttempts = Infinity,
  ) {
    // The proof must come before the last try.
    this.#beforeProbe = Math.max(1, Math.min(FAILURES_BEFORE_PROBE, maxAttempts - 1));
  }

  /** After a failure until the next success: the lane sends one request at a time. */
  get probing(): boolean {
    return this.#inARow > 0;
  }

  get outage(): boolean {
    return isOutage(this.#failing.size);
  }

  /** @param now monotonic milliseconds */
  failed(tried: Tried, now: number, situation: Situation, context: FailureContext = {}): Failed {
    const key = keyOf(tried);
    if (NOT_THE_MESSAGES.has(situation)) {
      if (situation === 'paused' && !context.pausedFor) this.#inARow++;
      const known = this.#failingMessages.get(key);
      return { ...waitAfter(situation, this.#facts(known, context, now)), counts: 0 };
    }
    const message = this.#failingMessages.get(key) ?? this.#track(key, tried, now);
    if (situation === 'throttled') message.throttles++;
    else message.failures++;
    const actual = escalated(situation, message, this.#beforeProbe);
    if (situation === 'throttled')
      return { ...waitAfter(actual, this.#facts(message, context)), counts: 0 };
    const isAgain = context.isResend === true && situation !== 'failed';
    if (!isAgain) this.#addFailing(key, tried, now);
    if (!isAgain || !message.proven) this.#inARow++;
    const wait = waitAfter(actual, this.#facts(message, context));
    let counts = 0;
    if (wait.counted !== 'never') {
      message.uncounted++;
      if (this.#isProven(key, message, now, context)) counts = this.#count(message);
    }
    message.stepsAside = wait.goingOn === 'probe';
    if (wait.message > 0) message.backsOffUntil = now + wait.message;
    return { ...wait, counts };
  }

  /** The provider was asked after the submission, and does not know it. @returns as `counts` */
  denied(tried: Tried): number {
    const message = this.#failingMessages.get(keyOf(tried));
    return message && !this.outage ? this.#count(message) : 0;
  }

  /** Milliseconds for which the messages still back off. */
  backsOffFor(tried: Tried, now: number): number {
    return Math.max(0, (this.#failingMessages.get(keyOf(tried))?.backsOffUntil ?? 0) - now);
  }

  /** Whether another message is the probe before these. */
  stepsAside(tried: Tried): boolean {
    return this.probing && this.#failingMessages.get(keyOf(tried))?.stepsAside === true;
  }

  /** Milliseconds for which new messages of the batch back off, while another batch is the probe. */
  batchBacksOffFor(batch: string, now: number): number {
    const { messages = 0, backsOffUntil = 0 } = this.#batches.get(batch) ?? {};
    return batchBackoff(backsOffUntil - now, messages);
  }

  forget(tried: Tried): void {
    this.#failingMessages.delete(keyOf(tried));
  }

  passed(tried: Tried): void {
    this.#inARow = 0;
    this.#failing.clear();
    this.#batches.clear();
    this.#failingMessages.delete(keyOf(tried));
    for (const message of this.#failingMessages.values()) {
      // So many failures before the first success were an outage.
      if (!message.proven && message.uncounted > this.#beforeProbe) message.uncounted = 0;
      message.proven = true;
    }
  }

  /** The lane has no batch to try beside the failing one. */
  alone(): void {
    // With several failing batches, each one is the probe for the others.
    if (new Set([...this.#failingMessages.values()].map(({ batch }) => batch)).size > 1) return;
    for (const message of this.#failingMessages.values()) message.alone = true;
  }

  #facts(
    message: Pick<FailingMessage, 'failures' | 'backsOffUntil'> | undefined,
    { asked, isResend = false, canBeAsked = false, pausedFor = 0 }: FailureContext,
    now = 0,
  ): FailureFacts {
    return {
      base: this.base,
      asked,
      failures: message?.failures ?? 0,
      inARow: this.#inARow,
      failing: this.#failing.size,
      pausedFor,
      backsOffFor: Math.max(0, (message?.backsOffUntil ?? 0) - now),
      isResend,
      canBeAsked,
    };
  }

  #addFailing(key: string, { batch }: Tried, now: number): void {
    if (this.#failing.has(key) || this.#failing.size >= MAX_FAILING) return;
    this.#failing.add(key);
    const messages = (this.#batches.get(batch)?.messages ?? 0) + 1;
    this.#batches.set(batch, { messages, backsOffUntil: now + backoff(this.base, messages) });
  }

  #isProven(
    key: string,
    { proven, alone, since }: FailingMessage,
    now: number,
    { servedAt = -Infinity, overdue = false }: FailureContext,
  ): boolean {
    if (proven || (alone && (overdue || servedAt > since))) return true;
    const others = this.#failing.size - (this.#failing.has(key) ? 1 : 0);
    return others === 0 && servedAt > now - RECENT;
  }

  /** Failures of an outage before this one do not count. */
  #count(message: FailingMessage): number {
    const { uncounted } = message;
    message.uncounted = 0;
    return uncounted - 1 > this.#beforeProbe ? 1 : uncounted;
  }

  #track(key: string, { batch }: Tried, since: number): FailingMessage {
    const message: FailingMessage = {
      batch,
      since,
      failures: 0,
      throttles: 0,
      uncounted: 0,
      backsOffUntil: 0,
      proven: false,
      alone: false,
      stepsAside: false,
    };
    this.#failingMessages.set(key, message);
    const [oldest] = this.#failingMessages.keys();
    if (oldest !== undefined && this.#failingMessages.size > MAX_FAILING) {
      this.#failingMessages.delete(oldest);
      this.#failing.delete(oldest);
    }
    return message;
  }
}

function keyOf({ batch, firstPosition }: Tried): string {
  return messageIdOf(batch, firstPosition);
}
