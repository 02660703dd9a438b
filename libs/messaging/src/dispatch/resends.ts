import { LeaseKeeper } from './lease-keeper.js';
import type { HeldLane } from './held-lane.js';
import {
  ageOf,
  decidePrepared,
  lateOutcomeOf,
  type PreparedSubmission,
  reopened,
} from './submissions.js';

interface Resend {
  readonly item: PreparedSubmission;
  /** Monotonic milliseconds. */
  readonly dueAt: number;
}

/**
 * Submissions that the provider may already have. Each is sent to the same provider again, unchanged, when it is due.
 */
export class Resends {
  /** In the order in which they are due. */
  #waiting: Resend[] = [];

  constructor(private readonly held: HeldLane) {}

  /** Provider of the first resend; `undefined` where there is none. */
  get provider(): string | undefined {
    return this.#waiting[0]?.item.provider;
  }

  /** Milliseconds until the first resend may start; `Infinity` without resends. */
  get dueIn(): number {
    const now = this.#now;
    let first = Infinity;
    for (const resend of this.#waiting) first = Math.min(first, this.#waitOf(resend, now));
    return first;
  }

  /** Whether all due resends are parked, so that other batches go first. */
  get aside(): boolean {
    const now = this.#now;
    return this.#waiting.every((resend) => this.#waitOf(resend, now) > 0 || this.#isAside(resend));
  }

  /** Number of batches with a resend. */
  get batches(): number {
    return new Set(this.#waiting.map(({ item }) => item.batch)).size;
  }

  /** Resends `item` at `dueAt` on the monotonic clock. */
  add(item: PreparedSubmission, dueAt: number): void {
    this.#waiting.push({ item: { ...item, resent: true }, dueAt });
    this.#waiting.sort((a, b) => a.dueAt - b.dueAt);
  }

  /** Takes over the submissions that former holders left open. Those that cannot be resent become `unknown`. */
  async recover(): Promise<void> {
    const { context, memory, leased } = this.held;
    const { clock } = context;
    const now = clock.monotonic();
    for (const open of await context.work.open(leased.lane)) {
      const failures = memory.failuresOf(open.provider);
      const counted = failures.attemptOf(open.batch, `${open.batch}-s${open.n}`);
      const attempt = Math.max(open.attempt, counted);
      const item = reopened({ ...open, attempt }, now, clock.now());
      const provider = context.providers.get(open.provider);
      if (provider && ageOf(item, clock) < provider.capabilities.idempotencyWindow)
        this.add(item, now + failures.asideFor(item.batch, now));
      else this.held.record(item, { result: 'unknown', errorCode: 'outcome_lost' });
    }
  }

  /**
   * Takes the due resends of one provider under this lease and by current policy decisions; one resend while that
   * provider is probed.
   */
  async take(): Promise<PreparedSubmission[]> {
    const { context, leased } = this.held;
    const due = this.#takeDue();
    try {
      const { prepared, later } = await this.#decide(due.map(({ item }) => item));
      const again = prepared.filter(({ skipOutcome }) => !skipOutcome);
      const moment = LeaseKeeper.moment(context.clock);
      const open = await context.intents.resume(
        leased.lane,
        leased.lease.fence,
        again.map(({ batch, n, submission }) => ({ batch, n, attempt: submission.attempt })),
      );
      leased.keeper.extend(moment);
      for (const { item, dueAt } of later) this.add(item, dueAt);
      // A former holder may have recorded an outcome meanwhile.
      return prepared.filter(
        ({ skipOutcome, submission }) => skipOutcome !== undefined || open.has(submission.id),
      );
    } catch (error) {
      this.#waiting.unshift(...due);
      throw error;
    }
  }

  get #now(): number {
    return this.held.context.clock.monotonic();
  }

  #waitOf({ item, dueAt }: Resend, now: number): number {
    return Math.max(dueAt - now, this.held.pause.restFor(item.provider));
  }

  #isAside({ item }: Resend): boolean {
    return this.held.memory.failuresOf(item.provider).isAside(item.batch);
  }

  #takeDue(): Resend[] {
    const now = this.#now;
    const due = this.#waiting.filter((resend) => this.#waitOf(resend, now) <= 0);
    const [first] = due;
    if (!first) return [];
    const own = due.filter(({ item }) => item.provider === first.item.provider);
    const { probing } = this.held.memory.failuresOf(first.item.provider);
    const taken = probing ? [own.find((resend) => !this.#isAside(resend)) ?? first] : own;
    this.#waiting = this.#waiting.filter((resend) => !taken.includes(resend));
    return taken;
  }

  /**
   * A resend never changes. Where policy now denies a member or substitutes the content, or its time is over, the
   * submission is not repeated and becomes `unknown`. Where policy defers it, the submission waits as long as the
   * provider honours its key.
   */
  async #decide(
    items: readonly PreparedSubmission[],
  ): Promise<{ prepared: PreparedSubmission[]; later: Resend[] }> {
    const { policy, clock } = this.held.context;
    const now = clock.monotonic();
    const decisions = await decidePrepared(policy, items);
    const prepared: PreparedSubmission[] = [];
    const later: Resend[] = [];
    for (const item of items) {
      const { idempotencyWindow } = this.held.provider(item.provider).capabilities;
      const decision = decisions.get(item);
      const dueAt =
        decision?.decision === 'defer'
          ? clock.monotonic() + decision.until.getTime() - clock.now()
          : Infinity;
      let skipOutcome = lateOutcomeOf(item, clock, idempotencyWindow);
      if (decision && !skipOutcome) {
        if (dueAt - item.intendedAt < idempotencyWindow) {
          later.push({ item, dueAt });
          continue;
        }
        const errorCode = decision.decision === 'deny' ? decision.code : 'outcome_lost';
        skipOutcome = { result: 'unknown', errorCode };
      }
      prepared.push({ ...item, skipOutcome, decidedAt: now });
    }
    return { prepared, later };
  }
}
