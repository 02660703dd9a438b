import { RESTORED } from '../store/rows/hold.js';
import type { HeldLane } from './held-lane.js';
import { ageOf, type PreparedSubmission, reopened } from './submissions.js';

type Resend = PreparedSubmission & { readonly resendAt: number };

/** Submissions that the provider may already have, each sent to it again, unchanged, when due. */
export class Resends {
  /** In the order of their due times. */
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

  /** Policy decides again before the start. @param resendAt monotonic milliseconds */
  add(item: PreparedSubmission, resendAt: number): void {
    // The attachments are read again just before the start.
    const { attachments: _attachments, ...submission } = item.submission;
    const again = { ...item, submission, resendAt };
    this.#waiting.push({ ...again, skipOutcome: undefined, decidedAt: -Infinity });
    this.#waiting.sort((a, b) => a.resendAt - b.resendAt);
  }

  /** Takes over what former holders left open. What cannot be resent becomes `unknown`. */
  async recover(): Promise<void> {
    const { held } = this;
    const { context, memory, leased, now } = held;
    for (const open of await context.work.open(leased.lane)) {
      const item = reopened(open, now, context.clock.now());
      const keyLasts = context.providers.get(open.provider)?.capabilities.idempotencyWindow ?? 0;
      const { inDoubtAt, firstSentAt } = open;
      const isSettled = inDoubtAt !== null && firstSentAt.getTime() >= inDoubtAt;
      if (isSettled || ageOf(item, context.clock) >= keyLasts) {
        const errorCode = isSettled ? RESTORED : 'outcome_lost';
        held.recordUnknown(item, errorCode);
        continue;
      }
      // The last attempt is stored when the next one starts.
      const attempt = open.attempt + (held.costsAttempt(item) ? 1 : 0);
      const again = { ...item, submission: { ...item.submission, attempt } };
      this.add(again, now + memory.failuresOf(open.provider).asideFor(open.batch, now));
    }
  }

  /** Takes the due resends of one provider; one resend while that provider is probed. */
  async take(): Promise<readonly PreparedSubmission[]> {
    const { context, leased } = this.held;
    const { lane, fence } = leased.lease;
    const due = this.#takeDue();
    const resumed = due.map(({ batch, n, submission }) => ({
      batch,
      n,
      attempt: submission.attempt,
    }));
    try {
      const open = await leased.renewing(() => context.intents.resume(lane, fence, resumed));
      // A former holder may have recorded an outcome meanwhile.
      return due.filter(({ submission }) => open.has(submission.id));
    } catch (error) {
      this.#waiting.unshift(...due);
      throw error;
    }
  }

  #waitOf({ resendAt, provider }: Resend): number {
    const { now, pause } = this.held;
    return Math.max(resendAt - now, pause.restFor(provider));
  }

  #isAside({ provider, batch }: PreparedSubmission): boolean {
    return this.held.memory.failuresOf(provider).isAside(batch);
  }

  #takeDue(): readonly Resend[] {
    const due = this.#waiting.filter((item) => this.#waitOf(item) <= 0);
    const [first] = due;
    if (!first) return [];
    const own = due.filter(({ provider }) => provider === first.provider);
    const { probing } = this.held.memory.failuresOf(first.provider);
    const taken = probing ? [own.find((item) => !this.#isAside(item)) ?? first] : own;
    this.#waiting = this.#waiting.filter((item) => !taken.includes(item));
    return taken;
  }
}
