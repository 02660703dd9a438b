import type { AppliedDecision } from '../policy/policy-pipeline.js';
import type { HeldLane } from './held-lane.js';
import {
  ageOf,
  decidePrepared,
  lateOutcomeOf,
  type PreparedSubmission,
  reopened,
} from './submissions.js';

type Resend = PreparedSubmission & { readonly resendAt: number };

/** Submissions that the provider may already have, each sent to it again, unchanged, when due. */
export class Resends {
  #waiting: Resend[] = [];

  constructor(private readonly held: HeldLane) {}

  get provider(): string | undefined {
    return this.#waiting[0]?.provider;
  }

  /** Milliseconds until the first resend may start; `Infinity` without resends. */
  get dueIn(): number {
    let first = Infinity;
    for (const item of this.#waiting) first = Math.min(first, this.#waitOf(item));
    return first;
  }

  /** Whether all due resends are parked, so that other batches go first. */
  get aside(): boolean {
    return this.#waiting.every((item) => this.#waitOf(item) > 0 || this.#isAside(item));
  }

  get batches(): number {
    return new Set(this.#waiting.map(({ batch }) => batch)).size;
  }

  /** @param resendAt monotonic milliseconds */
  add(item: PreparedSubmission, resendAt: number): void {
    this.#waiting.push({ ...item, resendAt });
    this.#waiting.sort((a, b) => a.resendAt - b.resendAt);
  }

  /** Takes over what former holders left open. What cannot be resent becomes `unknown`. */
  async recover(): Promise<void> {
    const { context, memory, leased } = this.held;
    const { clock, providers } = context;
    const now = clock.monotonic();
    for (const open of await context.work.open(leased.lane)) {
      const failures = memory.failuresOf(open.provider);
      const counted = failures.attemptOf(open.batch, `${open.batch}-s${open.n}`);
      const item = reopened(
        { ...open, attempt: Math.max(open.attempt, counted) },
        now,
        clock.now(),
      );
      const keyLasts = providers.get(open.provider)?.capabilities.idempotencyWindow ?? 0;
      if (ageOf(item, clock) < keyLasts) this.add(item, now + failures.asideFor(item.batch, now));
      else this.held.record(item, { result: 'unknown', errorCode: 'outcome_lost' });
    }
  }

  /** Takes the due resends of one provider; one resend while that provider is probed. */
  async take(): Promise<PreparedSubmission[]> {
    const { context, leased } = this.held;
    const { lane, fence } = leased.lease;
    const due = this.#takeDue();
    try {
      const decidedAt = context.clock.monotonic();
      const decisions = await decidePrepared(context.policy, due);
      const decided = due.map((item) => ({
        ...item,
        decidedAt,
        ...this.#decided(item, decisions.get(item)),
      }));
      const later = decided.filter(({ resendAt }) => resendAt > decidedAt);
      const prepared = decided.filter((item) => !later.includes(item));
      const again = prepared.filter(({ skipOutcome }) => !skipOutcome);
      const open = await leased.renewing(() =>
        context.intents.resume(
          lane,
          fence,
          again.map(({ batch, n, submission }) => ({ batch, n, attempt: submission.attempt })),
        ),
      );
      for (const item of later) this.add(item, item.resendAt);
      // A former holder may have recorded an outcome meanwhile.
      return prepared.filter(
        ({ skipOutcome, submission }) => skipOutcome !== undefined || open.has(submission.id),
      );
    } catch (error) {
      this.#waiting.unshift(...due);
      throw error;
    }
  }

  #waitOf({ resendAt, provider }: Resend): number {
    return Math.max(
      resendAt - this.held.context.clock.monotonic(),
      this.held.pause.restFor(provider),
    );
  }

  #isAside({ provider, batch }: PreparedSubmission): boolean {
    return this.held.memory.failuresOf(provider).isAside(batch);
  }

  #takeDue(): Resend[] {
    const due = this.#waiting.filter((item) => this.#waitOf(item) <= 0);
    const [first] = due;
    if (!first) return [];
    const own = due.filter(({ provider }) => provider === first.provider);
    const { probing } = this.held.memory.failuresOf(first.provider);
    const taken = probing ? [own.find((item) => !this.#isAside(item)) ?? first] : own;
    this.#waiting = this.#waiting.filter((item) => !taken.includes(item));
    return taken;
  }

  /**
   * A resend never changes. Where policy now denies or substitutes it, or its time is over, it
   * becomes `unknown`. Where policy defers it, it waits as long as the provider honours its key.
   */
  #decided(
    item: Resend,
    decision: AppliedDecision | undefined,
  ): Partial<Pick<Resend, 'skipOutcome' | 'resendAt'>> {
    const { clock } = this.held.context;
    const { idempotencyWindow } = this.held.provider(item.provider).capabilities;
    const late = lateOutcomeOf(item, clock, idempotencyWindow);
    if (late || !decision) return { skipOutcome: late };
    if (decision.decision === 'defer') {
      const resendAt = clock.monotonic() + Math.max(1, decision.until.getTime() - clock.now());
      if (resendAt - item.intendedAt < idempotencyWindow) return { resendAt };
    }
    const errorCode = decision.decision === 'deny' ? decision.code : 'outcome_lost';
    return { skipOutcome: { result: 'unknown', errorCode } };
  }
}
