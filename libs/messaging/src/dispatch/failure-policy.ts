import { backoff } from './backoff.js';

/** Failures of one batch before another is tried in its stead. */
const STRIKES_BEFORE_PROBE = 3;

/** While everything fails another batch is tried at least this often, in milliseconds. */
const LONGEST_REST = 30_000;

/** Batches whose failures are remembered: one that is cancelled never passes. */
const SUSPECTS = 10_000;

interface Suspect {
  strikes: number;
  /** Monotonic milliseconds until which it is left aside. */
  asideUntil: number;
  /** Since when, monotonic milliseconds. */
  readonly since: number;
  /** Another batch got through meanwhile: it is the batch, not the provider. */
  proven: boolean;
  /** The lane has no other to try. */
  alone: boolean;
  /** The try each of its submissions is at, of those that counted. */
  readonly attempts: Map<string, number>;
}

/** What is known beyond the lane of whether the provider or the batch is to blame. */
export interface Evidence {
  /** When anybody was served, in whatever lane; monotonic milliseconds. */
  readonly servedAt: number;
  /** It has been tried for so long that even an outage is no excuse. */
  readonly overdue: boolean;
}

/**
 * What failures say about the lane and about one batch. A failure alone cannot tell a dead provider
 * from a poisonous message, so strikes count as attempts only once another batch got through. Where the
 * lane has no other to try, another lane's success tells, and at last the batch's age:
 *
 * ```
 * open ──failure──▶ probing: one at a time, growing rests ──success──▶ open
 *                     │ three strikes of one batch: it is parked and the next batch is the probe
 *                     ├─ the probe passes: the parked one is proven, its strikes cost attempts
 *                     ├─ the probe fails: an outage, which costs no attempts; the next batch is the probe,
 *                     │    and what is parked comes again where no other is left
 *                     └─ there is none: an outage, until another lane is served or the batch is overdue
 * ```
 */
export class FailurePolicy {
  #streak = 0;
  /** Batches that failed since the last success. */
  readonly #failing = new Set<string>();
  readonly #suspects = new Map<string, Suspect>();

  /** @param base first rest, in milliseconds */
  constructor(private readonly base: number) {}

  /** Something failed since the last success: one request at a time. */
  get probing(): boolean {
    return this.#streak > 0;
  }

  /**
   * The provider itself could not take anything.
   * @returns milliseconds the lane rests
   */
  refused(): number {
    this.#streak++;
    return backoff(this.base, this.#streak);
  }

  /**
   * A request of `batch` failed.
   * @returns milliseconds the lane rests, and milliseconds the batch is left aside (0: it is tried again first)
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
    // One batch alone may be the poison: the others need not wait for it.
    const rest =
      this.#failing.size > 1 ? Math.min(LONGEST_REST, backoff(this.base, this.#streak)) : 0;
    return { rest, aside: wait };
  }

  /** Milliseconds `batch` is still left aside. */
  asideFor(batch: string, now: number): number {
    return Math.max(0, (this.#suspects.get(batch)?.asideUntil ?? 0) - now);
  }

  /** While everything fails it is not the probe as long as there is another. */
  isAside(batch: string): boolean {
    return this.probing && (this.#suspects.get(batch)?.strikes ?? 0) >= STRIKES_BEFORE_PROBE;
  }

  /** Does a failure of this batch cost an attempt? */
  costsAttempt(batch: string, { servedAt, overdue }: Evidence): boolean {
    const suspect = this.#suspects.get(batch);
    if (!suspect) return false;
    return suspect.proven || (suspect.alone && (overdue || servedAt > suspect.since));
  }

  /** A submission of `batch` goes out again, and that is its try number `attempt`. */
  counts(batch: string, submission: string, attempt: number): void {
    this.#suspects.get(batch)?.attempts.set(submission, attempt);
  }

  /** The try a submission is at; the lane may have been given back since it was counted. 0: none counted. */
  attemptOf(batch: string, submission: string): number {
    return this.#suspects.get(batch)?.attempts.get(submission) ?? 0;
  }

  /** Nothing of `batch` is tried again. */
  forget(batch: string): void {
    this.#suspects.delete(batch);
    this.#failing.delete(batch);
  }

  /** A request of `batch` was answered: the provider is there. */
  passed(batch: string): void {
    this.#streak = 0;
    this.#failing.clear();
    if (this.#suspects.size === 0) return;
    this.#suspects.delete(batch);
    this.#proveAll();
  }

  /** There is nothing else to try. */
  alone(): void {
    // Several that fail are each other's probe.
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
