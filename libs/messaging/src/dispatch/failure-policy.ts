import { backoff, LONGEST_REST } from './backoff.js';

/** Failures of one message after which it waits by itself and the next message is the probe. */
const FAILURES_BEFORE_PROBE = 3;

/** Messages of one batch that fail with no success between them, after which another is the probe. */
const MOST_OF_BATCH = 2;

/** Longest rest while few submissions are uncertain, in milliseconds: others leave soon. */
const SHORT_REST = 1_000;

/** Longest wait before a provider that can be asked is asked, in milliseconds. */
const LONGEST_DOUBT = 15_000;

/** Refusals for the provider's rate after which a message waits by itself. */
const THROTTLES_BEFORE_PARKING = 3;

/** Shortest time that a throttled message waits beyond the rest, so that another one is the probe. */
const SHORTEST_PARKING = 1_000;

/** More submissions than this that are uncertain with no success between them are an outage. */
const MOST_DOUBTS = 10;

/** Age in milliseconds up to which a success shows that the provider works. */
const RECENT = 10_000;

/** The limit drops cancelled messages, which never succeed. */
const MAX_FAILING = 10_000;

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
  /** Other messages go first until then. */
  parkedUntil: number;
  /** Another message succeeded meanwhile: the failures are this one's, not the provider's. */
  proven: boolean;
  alone: boolean;
  apart: boolean;
}

export interface FailureContext {
  /** The provider's own wait. */
  readonly retryAfter?: number | undefined;
  /** Only this submission waits and is resent by itself, so that others are the probe at once. */
  readonly apart?: boolean;
  /** A resend of a submission that is uncertain: its failure says little about the provider. */
  readonly again?: boolean;
  /** The provider can be asked after the submission: it is asked soon, but for an outage. */
  readonly asked?: boolean;
  /** The provider accepts nothing now: the failure does not count. */
  readonly paused?: boolean;
  /** When the provider last served a request of any lane. */
  readonly servedAt?: number;
  /** The message was tried for longer than an outage explains. */
  readonly overdue?: boolean;
}

/** Waits in milliseconds. */
export interface Failed {
  /** Rest of the lane. */
  readonly rest: number;
  /** Wait of the messages of the submission; 0: they go first. */
  readonly parkFor: number;
  /** Number of failures, this and earlier ones, that count against `maxAttempts` from now on. */
  readonly counts: number;
}

/**
 * Decides how a provider's failure delays a lane and a message. It may be an outage, or a message
 * that the provider never accepts: its failures count only with evidence that the provider works:
 * another message passes, or has passed lately while nothing else fails. Without another message, a
 * success in another lane decides, and finally the age of the message:
 *
 * ```
 * open ──failure──▶ probing: one request at a time, growing rests ──success──▶ open
 *                     │ three failures of one message, or one uncertain answer: it waits by itself and
 *                     │ the next message is the probe
 *                     ├─ the probe passes: the waiting message is proven, its failures count
 *                     ├─ the probe fails: an outage, in which nothing counts; the next message is the
 *                     │    probe, and waiting ones come again when no other is left
 *                     └─ no other message: an outage, until another lane is served or the message is
 *                          overdue
 * ```
 */
export class FailurePolicy {
  #streak = 0;
  readonly #failing = new Set<string>();
  readonly #batches = new Map<string, { messages: number; parkedUntil: number }>();
  readonly #failingMessages = new Map<string, FailingMessage>();
  readonly #parkAfter: number;

  /** @param base first rest, in milliseconds */
  constructor(
    private readonly base: number,
    maxAttempts = Infinity,
  ) {
    // The proof must come before the last try.
    this.#parkAfter = Math.max(1, Math.min(FAILURES_BEFORE_PROBE, maxAttempts - 1));
  }

  /** After a failure until the next success: the lane sends one request at a time. */
  get probing(): boolean {
    return this.#streak > 0;
  }

  /** More messages fail, with no success between them, than a few bad ones explain. */
  get outage(): boolean {
    return this.#failing.size > MOST_DOUBTS;
  }

  /** The provider refuses every request. Returns the lane's rest in milliseconds. */
  refused(): number {
    this.#streak++;
    return Math.min(LONGEST_REST, backoff(this.base, this.#streak));
  }

  /** @param now monotonic milliseconds */
  failed(tried: Tried, now: number, context: FailureContext = {}): Failed {
    const { retryAfter, apart = false, again = false, asked = false, paused = false } = context;
    const key = keyOf(tried);
    const message = this.#failingMessages.get(key) ?? this.#track(key, tried, now);
    message.failures++;
    if (!paused) message.uncounted++;
    message.apart = apart;
    const isResend = apart && again;
    if (!isResend) this.#addFailing(key, tried, now);
    if (!isResend || !message.proven) this.#streak++;
    const isProven = !paused && this.#isProven(key, message, now, context);
    const counts = isProven ? this.#count(message) : 0;
    const most = asked && !this.outage ? LONGEST_DOUBT : Infinity;
    const wait = retryAfter ?? Math.min(most, backoff(this.base, message.failures));
    if (!apart && message.failures < this.#parkAfter) return { rest: wait, parkFor: 0, counts };
    message.parkedUntil = now + wait;
    return { rest: isResend ? 0 : this.#restOf(apart), parkFor: wait, counts };
  }

  /**
   * The provider takes no more now. It may mean this message alone, such as its recipient: after three
   * times others go first.
   * @param rest of the provider, in milliseconds
   * @returns the wait of the message; 0: it goes first
   */
  throttled(tried: Tried, now: number, rest: number): number {
    const key = keyOf(tried);
    const message = this.#failingMessages.get(key) ?? this.#track(key, tried, now);
    if (++message.throttles < THROTTLES_BEFORE_PARKING) return 0;
    return rest + Math.min(LONGEST_REST, Math.max(SHORTEST_PARKING, rest));
  }

  /** The provider was asked after the submission, and does not know it. @returns as `counts` */
  denied(tried: Tried): number {
    const message = this.#failingMessages.get(keyOf(tried));
    return message && !this.outage ? this.#count(message) : 0;
  }

  /** Milliseconds for which the messages still wait. */
  parkedFor(tried: Tried, now: number): number {
    return Math.max(0, (this.#failingMessages.get(keyOf(tried))?.parkedUntil ?? 0) - now);
  }

  /** Whether the messages wait while another one is the probe. */
  isParked(tried: Tried): boolean {
    const message = this.#failingMessages.get(keyOf(tried));
    if (!this.probing || !message) return false;
    return message.apart || message.failures >= this.#parkAfter;
  }

  /** Milliseconds for which new messages of the batch wait, while another batch is the probe. */
  batchParkedFor(batch: string, now: number): number {
    const { messages = 0, parkedUntil = 0 } = this.#batches.get(batch) ?? {};
    return messages < MOST_OF_BATCH ? 0 : Math.max(0, Math.min(LONGEST_REST, parkedUntil - now));
  }

  forget(tried: Tried): void {
    this.#failingMessages.delete(keyOf(tried));
  }

  passed(tried: Tried): void {
    this.#streak = 0;
    this.#failing.clear();
    this.#batches.clear();
    this.#failingMessages.delete(keyOf(tried));
    for (const message of this.#failingMessages.values()) {
      // So many failures before the first success were an outage.
      if (!message.proven && message.uncounted > this.#parkAfter) message.uncounted = 0;
      message.proven = true;
    }
  }

  /** The lane has no batch to try beside the failing one. */
  alone(): void {
    // With several failing batches, each one is the probe for the others.
    if (new Set([...this.#failingMessages.values()].map(({ batch }) => batch)).size > 1) return;
    for (const message of this.#failingMessages.values()) message.alone = true;
  }

  #addFailing(key: string, { batch }: Tried, now: number): void {
    if (this.#failing.has(key) || this.#failing.size >= MAX_FAILING) return;
    this.#failing.add(key);
    const messages = (this.#batches.get(batch)?.messages ?? 0) + 1;
    this.#batches.set(batch, { messages, parkedUntil: now + backoff(this.base, messages) });
  }

  /** A single failing message may be the cause, so others do not wait for it. */
  #restOf(apart: boolean): number {
    const failing = this.#failing.size;
    if (failing <= 1) return 0;
    if (!apart) return Math.min(LONGEST_REST, backoff(this.base, this.#streak));
    return this.outage
      ? Math.min(LONGEST_REST, backoff(this.base, failing - MOST_DOUBTS))
      : Math.min(SHORT_REST, backoff(this.base, 1));
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
    return uncounted - 1 > this.#parkAfter ? 1 : uncounted;
  }

  #track(key: string, { batch }: Tried, since: number): FailingMessage {
    const message: FailingMessage = {
      batch,
      since,
      failures: 0,
      throttles: 0,
      uncounted: 0,
      parkedUntil: 0,
      proven: false,
      alone: false,
      apart: false,
    };
    this.#failingMessages.set(key, message);
    const [oldest] = this.#failingMessages.keys();
    if (this.#failingMessages.size > MAX_FAILING) {
      this.#failingMessages.delete(oldest as string);
      this.#failing.delete(oldest as string);
    }
    return message;
  }
}

function keyOf({ batch, firstPosition }: Tried): string {
  return `${batch}-${firstPosition}`;
}
