import { backoff } from './backoff.js';

const STRIKES_BEFORE_PROBE = 3;

/** Longest rest while every batch fails, in milliseconds. */
export const LONGEST_REST = 30_000;

/** The limit drops cancelled batches, which never succeed. */
const MAX_SUSPECTS = 10_000;

/** A batch that failed. Times are monotonic milliseconds. */
interface Suspect {
  readonly since: number;
  strikes: number;
  /** Other batches go first until then. */
  asideUntil: number;
  /** Another batch succeeded meanwhile: the failures are this batch's, not the provider's. */
  proven: boolean;
  alone: boolean;
}

/**
 * Decides what a provider's failure costs a lane and a batch. It may be an outage, or a batch that
 * the provider never accepts: strikes count as attempts only after another batch passes. Without
 * another batch, a success in another lane decides, and finally the age of the batch:
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
  readonly #failing = new Set<string>();
  readonly #suspects = new Map<string, Suspect>();

  /** @param base first rest, in milliseconds */
  constructor(private readonly base: number) {}

  /** After a failure until the next success: the lane sends one request at a time. */
  get probing(): boolean {
    return this.#streak > 0;
  }

  /** The provider refuses every request. Returns the lane's rest in milliseconds. */
  refused(): number {
    this.#streak++;
    return Math.min(LONGEST_REST, backoff(this.base, this.#streak));
  }

  /**
   * Returns the lane's rest and how long the batch is set aside (0: it goes first), in ms.
   * @param options `retryAfter`: the provider's own wait; `apart`: only one submission of the batch
   * failed and is resent by itself, so that other messages are the probe at once
   */
  failed(
    batch: string,
    now: number,
    options: { readonly retryAfter?: number | undefined; readonly apart?: boolean } = {},
  ): { rest: number; aside: number } {
    const { retryAfter, apart = false } = options;
    this.#streak++;
    this.#failing.add(batch);
    const suspect = this.#suspects.get(batch) ?? this.#suspect(batch, now);
    suspect.strikes++;
    const wait = retryAfter ?? backoff(this.base, suspect.strikes);
    const isOnly = this.#failing.size === 1 && (suspect.strikes === 1 || suspect.proven);
    if (suspect.strikes < STRIKES_BEFORE_PROBE && !(apart && isOnly))
      return { rest: wait, aside: 0 };
    suspect.asideUntil = now + wait;
    // A single failing batch may be the cause, so other batches do not wait for it.
    const rest =
      this.#failing.size > 1 ? Math.min(LONGEST_REST, backoff(this.base, this.#streak)) : 0;
    return { rest, aside: wait };
  }

  /** Milliseconds for which `batch` is still set aside. */
  asideFor(batch: string, now: number): number {
    return Math.max(0, (this.#suspects.get(batch)?.asideUntil ?? 0) - now);
  }

  /** Whether the batch is parked while another batch is the probe. */
  isAside(batch: string): boolean {
    return this.probing && (this.#suspects.get(batch)?.strikes ?? 0) >= STRIKES_BEFORE_PROBE;
  }

  /**
   * @param evidence `servedAt`: when the provider last served a request of any lane, in monotonic
   * milliseconds; `overdue`: the batch was tried for longer than an outage explains
   */
  costsAttempt(batch: string, evidence: { servedAt: number; overdue: boolean }): boolean {
    const { servedAt, overdue } = evidence;
    const suspect = this.#suspects.get(batch);
    if (!suspect) return false;
    return suspect.proven || (suspect.alone && (overdue || servedAt > suspect.since));
  }

  forget(batch: string): void {
    this.#suspects.delete(batch);
    this.#failing.delete(batch);
  }

  passed(batch: string): void {
    this.#streak = 0;
    this.#failing.clear();
    this.#suspects.delete(batch);
    for (const suspect of this.#suspects.values()) suspect.proven = true;
  }

  /** The lane has no batch to try beside the failing ones. */
  alone(): void {
    // With several failing batches, each one is the probe for the others.
    if (this.#suspects.size > 1) return;
    for (const suspect of this.#suspects.values()) suspect.alone = true;
  }

  #suspect(batch: string, since: number): Suspect {
    const suspect = { since, strikes: 0, asideUntil: 0, proven: false, alone: false };
    this.#suspects.set(batch, suspect);
    const [oldest] = this.#suspects.keys();
    if (this.#suspects.size > MAX_SUSPECTS) this.forget(oldest as string);
    return suspect;
  }
}
