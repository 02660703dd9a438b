import { backoff } from './backoff.js';

/** Failures of one batch before the lane tries another batch. */
const STRIKES_BEFORE_PROBE = 3;

/** While every batch fails, longest wait in milliseconds before the next batch is tried. */
const LONGEST_REST = 30_000;

/** Batches whose failures are remembered; a cancelled batch never passes and would stay. */
const SUSPECTS = 10_000;

interface Suspect {
  strikes: number;
  /** Monotonic milliseconds until which other batches go first. */
  asideUntil: number;
  /** First failure, monotonic milliseconds. */
  readonly since: number;
  /** Another batch passed meanwhile, so the failures are the batch's own. */
  proven: boolean;
  /** The lane has no other batch to try. */
  alone: boolean;
  /** The counted try that each of its submissions is at. */
  readonly attempts: Map<string, number>;
}

/** What is known outside the lane about whether the provider or the batch fails. */
export interface Evidence {
  /** When the provider last served a request of any lane; monotonic milliseconds. */
  readonly servedAt: number;
  /** The batch was tried for longer than an outage excuses. */
  readonly overdue: boolean;
}

/**
 * What the failures of one provider in one lane mean for the lane and for one batch. A failure alone cannot
 * tell an outage of the provider from a batch that it never accepts, so strikes count as attempts only once
 * another batch passes. Where the lane has no other batch, a success in another lane decides, and at last
 * the age of the batch:
 *
 * ```
 * open ──failure──▶ probing: one request at a time, growing rests ──success──▶ open
 *                     │ three strikes of one batch: it is parked and the next batch is the probe
 *                     ├─ the probe passes: the parked batch is proven, its strikes cost attempts
 *                     ├─ the probe fails: an outage, which costs no attempts; the next batch is the probe,
 *                     │    and parked batches come again when no other batch is left
 *                     └─ no other batch: an outage, until another lane is served or the batch is overdue
 * ```
 */
export class FailurePolicy {
  #streak = 0;
  /** Batches that failed since the last success. */
  readonly #failing = new Set<string>();
  readonly #suspects = new Map<string, Suspect>();

  /** @param base first rest, in milliseconds */
  constructor(private readonly base: number) {}

  /** A request failed since the last success: one request at a time. */
  get probing(): boolean {
    return this.#streak > 0;
  }

  /**
   * The provider refuses every request, whatever its content.
   * @returns milliseconds the lane rests
   */
  refused(): number {
    this.#streak++;
    return backoff(this.base, this.#streak);
  }

  /**
   * A request of `batch` failed.
   * @returns milliseconds the lane rests, and milliseconds the batch is set aside (0: it is tried again first)
   */
  failed(batch: string, now: number, retryAfter?: number): { rest: number; aside: number } {
    this.#streak++;
    this.#failing.add(batch);
    const suspect: Suspect = this.#suspects.get(batch) ?? {
      strikes: 0,
      asideUntil: 0,
      since: now,
      proven: false,
      alone: false,
      attempts: new Map(),
    };
    suspect.strikes++;
    this.#suspects.set(batch, suspect);
    this.#forgetOldest();
    const wait = retryAfter ?? backoff(this.base, suspect.strikes);
    if (suspect.strikes < STRIKES_BEFORE_PROBE) return { rest: wait, aside: 0 };
    suspect.asideUntil = now + wait;
    // A single failing batch may be at fault: the others need not wait for it.
    const rest =
      this.#failing.size > 1 ? Math.min(LONGEST_REST, backoff(this.base, this.#streak)) : 0;
    return { rest, aside: wait };
  }

  /** Milliseconds for which `batch` is still set aside. */
  asideFor(batch: string, now: number): number {
    return Math.max(0, (this.#suspects.get(batch)?.asideUntil ?? 0) - now);
  }

  /** The batch is not the probe as long as there is another one. */
  isAside(batch: string): boolean {
    return this.probing && (this.#suspects.get(batch)?.strikes ?? 0) >= STRIKES_BEFORE_PROBE;
  }

  /** Whether a failure of this batch costs an attempt. */
  costsAttempt(batch: string, { servedAt, overdue }: Evidence): boolean {
    const suspect = this.#suspects.get(batch);
    if (!suspect) return false;
    return suspect.proven || (suspect.alone && (overdue || servedAt > suspect.since));
  }

  /** A submission of `batch` is resent as its try number `attempt`. */
  counts(batch: string, submission: string, attempt: number): void {
    this.#suspects.get(batch)?.attempts.set(submission, attempt);
  }

  /** The counted try that a submission is at; remembered over releases of the lane. 0: none is counted. */
  attemptOf(batch: string, submission: string): number {
    return this.#suspects.get(batch)?.attempts.get(submission) ?? 0;
  }

  /** No message of `batch` is tried again. */
  forget(batch: string): void {
    this.#suspects.delete(batch);
    this.#failing.delete(batch);
  }

  /** A request of `batch` was answered, so the provider is up. */
  passed(batch: string): void {
    this.#streak = 0;
    this.#failing.clear();
    if (this.#suspects.size === 0) return;
    this.#suspects.delete(batch);
    this.#proveAll();
  }

  /** The lane has no other batch to try. */
  alone(): void {
    // Several failing batches are each other's probe.
    if (this.#suspects.size === 1)
      for (const suspect of this.#suspects.values()) suspect.alone = true;
  }

  #forgetOldest(): void {
    const [oldest] = this.#suspects.keys();
    if (this.#suspects.size > SUSPECTS && oldest !== undefined) this.forget(oldest);
  }

  #proveAll(): void {
    for (const suspect of this.#suspects.values()) suspect.proven = true;
  }
}
