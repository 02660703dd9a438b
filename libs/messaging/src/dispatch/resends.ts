import { timeLimit, untilAborted } from '../message/time-limit.js';
import { errorName } from '../message/errors.js';
import { Logger } from '@nestjs/common';
import type { DeliveryReport } from '../message/events.js';
import { UNREADABLE } from '../store/rows/content-seals.js';
import { RESTORED } from '../store/rows/hold.js';
import type { LeasedWork } from './leased-work.js';
import { inLaneOrder } from './lane-order.js';
import { THROTTLED } from './submit-answers.js';
import { ageOf, type PreparedSubmission, takenOver } from './submissions.js';

type Resend = PreparedSubmission & { readonly resendAt: number };

/** Submissions that one question names. */
const QUESTION = 100;

/** Longest wait for the answer to a question, in milliseconds. */
const TIME_LIMIT = 10_000;

/** Longest time until a lane that asks its provider looks again, in milliseconds. */
const LOOK = 1_000;

/**
 * Submissions that the provider may already have. When one is due, its provider is asked for it,
 * where it can be polled; a submission without a report at the provider is sent again, unchanged:
 *
 * ```
 * waiting ─due─▶ asked ─reports of all recipients─▶ accepted, and the reports
 *    ▲             └─none, or no answer─▶ sent again ─▶ its answer decides
 *    └──────────────── uncertain again ────┘   unknown, once no try is left
 * ```
 */
export class Resends {
  readonly #logger = new Logger('Lane');
  #stopped = false;
  /** Aborts the current poll of the provider. Most lanes make none, and a controller takes 18 µs. */
  #questioned: AbortController | undefined;
  /** In the order of their due times. */
  #waiting: Resend[] = [];
  /** Asked after at this moment. */
  #asking: readonly Resend[] = [];

  constructor(private readonly work: LeasedWork) {}

  /** Milliseconds until the first resend may start; `Infinity` without resends. */
  get dueIn(): number {
    const isAsking = this.#asking.length > 0;
    let first = isAsking ? LOOK : Infinity;
    for (const item of this.#waiting)
      if (!isAsking || !this.#isToAsk(item)) first = Math.min(first, this.#waitOf(item));
    return first;
  }

  /** Whether all due resends step aside, so that other batches go first. */
  get allStepAside(): boolean {
    return this.#waiting.every((item) => this.#waitOf(item) > 0 || this.#stepsAside(item));
  }

  get batches(): number {
    return new Set([...this.#waiting, ...this.#asking].map(({ batch }) => batch)).size;
  }

  /** Policy decides again before the start. @param resendAt monotonic milliseconds */
  add(item: PreparedSubmission, resendAt: number, asked = false): void {
    // The attachments are read again just before the start.
    const { attachments: _attachments, ...submission } = item.submission;
    const again = { ...item, submission, resendAt, asked };
    this.#waiting.push({ ...again, skipOutcome: undefined, decidedAt: -Infinity });
    this.#waiting.sort((a, b) => a.resendAt - b.resendAt);
  }

  /** Takes over the unanswered submissions of former holders. One that cannot be resent becomes `unknown`. */
  async recover(): Promise<void> {
    const { work } = this;
    const { context, memory, leased, now } = work;
    for (const left of await context.work.unanswered(leased.lane)) {
      const item = takenOver(left, now, context.clock.now());
      const keyLasts = context.providers.get(left.provider)?.capabilities.idempotencyWindow ?? 0;
      const { inDoubtAt, firstSentAt } = left;
      const isSettled = inDoubtAt !== null && firstSentAt.getTime() >= inDoubtAt;
      if (isSettled || left.unreadable || ageOf(item, context.clock) >= keyLasts) {
        const lost = left.unreadable ? UNREADABLE : 'outcome_lost';
        work.recordUnknown(item, { errorCode: isSettled ? RESTORED : lost });
        continue;
      }
      // The holder died, or paused, before a later message left, so that none leaves before the resend.
      const inOrder = item.doubt === undefined || item.doubt.errorCode === THROTTLED;
      memory.order.waits(item, 'uncertain');
      this.add(item, now + memory.failuresOf(left.provider).backsOffFor(item, now), inOrder);
    }
  }

  /** Asks the provider of the due submissions that it can be asked for, beside other work. */
  ask(): void {
    if (this.#asking.length > 0 || this.#stopped) return;
    const due = this.#waiting.filter((item) => this.#isToAsk(item) && this.#waitOf(item) <= 0);
    const [first] = due;
    if (!first) return;
    const asked = due.filter(({ provider }) => provider === first.provider).slice(0, QUESTION);
    this.#waiting = this.#waiting.filter((item) => !asked.includes(item));
    this.#asking = asked;
    void this.#question(first.provider, asked);
  }

  /** Takes the due resends of one provider; one resend while that provider is probed. */
  async take(): Promise<readonly PreparedSubmission[]> {
    const { context, leased } = this.work;
    const { lane, fence } = leased.lease;
    const due = this.#takeDue();
    if (due.length === 0) return [];
    const resumed = due.map(({ batch, n, firstPosition, lastPosition, submission }) => ({
      batch,
      n,
      firstPosition,
      lastPosition,
      attempt: submission.attempt,
    }));
    try {
      const unanswered = await leased.renewing(() => context.intents.resume(lane, fence, resumed));
      // A former holder may have recorded an outcome meanwhile.
      return due.filter(({ submission }) => unanswered.has(submission.id));
    } catch (error) {
      this.#waiting.unshift(...due);
      throw error;
    }
  }

  /** Gives up the questions: the submissions stay unanswered. */
  stop(): void {
    this.#stopped = true;
    this.#questioned?.abort();
    this.#waiting.push(...this.#asking);
    this.#asking = [];
  }

  async #question(provider: string, asked: readonly Resend[]): Promise<void> {
    const { work } = this;
    const stop = (this.#questioned = new AbortController()).signal;
    const reports = await this.#reportsOf(provider, asked, stop).catch((error: unknown) => {
      if (this.#stopped) return undefined;
      this.#logger.warn(
        `${work.leased.lane}: ${provider} was not asked after ${asked.length} submissions: ${errorName(error)}`,
      );
    });
    if (this.#stopped) return;
    this.#asking = [];
    // A provider that does not answer is not asked again before the next resends.
    if (!reports)
      this.#waiting = this.#waiting.map((item) =>
        item.provider === provider && this.#waitOf(item) <= 0 ? { ...item, asked: true } : item,
      );
    for (const item of asked)
      this.#answered(
        item,
        reports?.filter(({ submissionId }) => submissionId === item.submission.id),
      );
    work.leased.changed.wake();
  }

  /** @param reports `undefined`: the provider did not answer */
  #answered(item: Resend, reports: readonly DeliveryReport[] | undefined): void {
    const { work } = this;
    const { context, now } = work;
    const { provider, submission } = item;
    const failures = work.memory.failuresOf(provider);
    if (reports && reports.length > 0) {
      const record = () => context.reports.record(reports, { provider });
      if (isWhole(item, reports)) {
        failures.forget(item);
        const reference = reports.find((report) => report.reference !== null)?.reference;
        void work
          .record(item, { result: 'accepted', reference: reference ?? undefined })
          .then(record)
          // A poll finds them.
          .catch(() => undefined);
        return;
      }
      void record().catch(() => undefined);
    }
    const countedFailures = item.countedFailures + (reports ? failures.denied(item) : 0);
    if (countedFailures < context.maxAttempts || !item.doubt)
      return this.add({ ...item, countedFailures, submission }, now, true);
    failures.forget(item);
    work.recordUnknown(item, item.doubt);
  }

  async #reportsOf(
    provider: string,
    asked: readonly Resend[],
    stop: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    const { work } = this;
    const limit = timeLimit(TIME_LIMIT, stop);
    const sent = asked.map(({ submission }) => {
      const { id, channel, recipients, firstSentAt, attempt } = submission;
      const submissionId = id;
      return { submissionId, reference: null, channel, recipients, firstSentAt, attempt };
    });
    return untilAborted(limit, work.provider(provider).reportsOf(sent, limit));
  }

  #isToAsk(item: Resend): boolean {
    return !item.asked && this.work.finds(item);
  }

  #waitOf({ resendAt, provider }: Resend): number {
    const { now, pause } = this.work;
    return Math.max(resendAt - now, pause.pausedFor(provider));
  }

  #stepsAside(item: PreparedSubmission): boolean {
    return this.work.memory.failuresOf(item.provider).stepsAside(item);
  }

  #takeDue(): readonly Resend[] {
    const due = this.#waiting.filter((item) => this.#waitOf(item) <= 0 && !this.#isToAsk(item));
    const [first] = due;
    if (!first) return [];
    const own = due.filter(({ provider }) => provider === first.provider).toSorted(inLaneOrder);
    const { probing } = this.work.memory.failuresOf(first.provider);
    const taken = probing ? [own.find((item) => !this.#stepsAside(item)) ?? first] : own;
    this.#waiting = this.#waiting.filter((item) => !taken.includes(item));
    return taken;
  }
}

/** Whether each recipient has a report. */
function isWhole({ submission }: Resend, reports: readonly DeliveryReport[]): boolean {
  const { recipients } = submission;
  if (recipients.length === 1) return true;
  const reported = new Set(reports.map(({ recipient }) => recipient));
  return recipients.every((recipient) => reported.has(recipient));
}
