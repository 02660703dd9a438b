import { Logger } from '@nestjs/common';
import type { Outcome } from '../store/outcome.js';
import { InFlight } from './in-flight.js';
import { skipOutcomeOfLate } from './instead-of-late.js';
import type { Evidence } from './failure-policy.js';
import { LanePause } from './lane-pause.js';
import type { LaneRun } from './lane-run.js';
import type { Prefetch } from './prefetch.js';
import { recordAgain } from './record-again.js';
import { ageOf, type Ready } from './slice.js';
import { outcomeOf, type Verdict, verdictOf } from './submit-verdict.js';

/** A provider that was not there is asked again at least this often, in milliseconds. */
const LONGEST_PAUSE = 30_000;

/** The lane's requests in flight, what their answers mean for the lane, and their outcomes on the way to the store. */
export class LaneRequests {
  readonly pause: LanePause;
  readonly #logger = new Logger('Lane');
  readonly #inFlight: InFlight<Ready>;
  /** An outcome may wait a moment for others: without keys, those a process dies with are `unknown`. */
  readonly #patient: boolean;
  #recording = 0;
  #returning = 0;
  #unrecorded = 0;

  constructor(
    private readonly run: LaneRun,
    private readonly stock: Prefetch,
  ) {
    this.pause = new LanePause(run);
    this.#patient = run.context.transport.capabilities.idempotencyWindow > 0;
    this.#inFlight = new InFlight(run.context.timeout, (item) => {
      if (this.#settle(item)) this.#failed(item, verdictOf(undefined));
    });
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Outcomes not yet committed. */
  get recording(): number {
    return this.#recording;
  }

  /** Outcomes not yet committed that set messages back: until then nobody can plan in the right order. */
  get returning(): number {
    return this.#returning;
  }

  /** Outcomes that a stop could not wait for: whoever has the lane next finds their submissions open. */
  get unrecorded(): number {
    return this.#unrecorded;
  }

  get settled(): boolean {
    return this.#inFlight.size === 0 && this.#recording === 0;
  }

  start(item: Ready): void {
    const { context, memory } = this.run;
    const instead = item.instead ?? skipOutcomeOfLate(item, context);
    if (instead) {
      this.#record({ ...this.#headOf(item), ...instead });
      return;
    }
    context.slots.take(this.run.changed);
    if (this.#patient) context.outcomes.expect(1);
    const answered = this.#exchange(item, this.#inFlight.begin(item));
    // Counted once it is on its way: a pause in between must not make it look earlier than it was.
    memory.limiter?.start(item.positions.length, context.clock.monotonic());
    context.transportRate?.start(item.positions.length);
    answered.then(
      (outcome) => {
        if (this.#settle(item)) this.#passed(item.batch);
        // Even one that was given up: it is a fact.
        this.#record(this.#accepted(item, outcome));
      },
      (error: unknown) => {
        if (this.#settle(item)) this.#failed(item, verdictOf(error));
      },
    );
  }

  /** Whatever goes wrong in here, a transport that throws or answers nonsense included, is a failure of this request. */
  async #exchange(item: Ready, signal: AbortSignal): Promise<ReturnType<typeof outcomeOf>> {
    return outcomeOf(item, await this.run.context.transport.submit(item.submission, signal));
  }

  /** They never started: back to `queued`. */
  withdraw(items: readonly Ready[]): void {
    for (const item of items) this.#record({ ...this.#headOf(item), result: 'withdrawn' });
  }

  /** Nobody can know of these any more. */
  lose(items: readonly Ready[]): void {
    for (const item of items)
      this.#record({ ...this.#headOf(item), result: 'unknown', errorCode: 'outcome_lost' });
  }

  abort(): void {
    this.#inFlight.abort();
  }

  /** False: it was settled before. */
  #settle(item: Ready): boolean {
    const { context, changed } = this.run;
    const ended = this.#inFlight.end(item);
    if (ended) context.slots.giveBack();
    if (ended && this.#patient) context.outcomes.expect(-1);
    changed.wake();
    return ended;
  }

  #passed(batch: string): void {
    const { context, memory } = this.run;
    memory.gate.passed(batch);
    context.served.at = context.clock.monotonic();
    this.pause.end();
  }

  #failed(item: Ready, verdict: Verdict): void {
    const { kind, code } = verdict;
    const head = { ...this.#headOf(item), errorCode: code };
    if (kind === 'permanent') {
      this.#passed(item.batch);
      this.#record({ ...head, result: 'rejected' });
      return;
    }
    const { context, memory } = this.run;
    const { attempt } = item.submission;
    const counts = kind !== 'paused' && memory.gate.costsAttempt(item.batch, this.#evidence(item));
    const exhausted = counts && attempt >= context.maxAttempts;
    const aside = kind === 'paused' ? this.#refused(verdict) : this.#strike(item.batch, verdict);
    // A refused resend says nothing of the try before it, whose answer was never learned.
    if (kind !== 'uncertain' && !item.resent)
      this.#record({
        ...head,
        result: 'refused',
        exhausted,
        ...(counts && { attempts: attempt }),
        ...(aside > 0 && { parkFor: aside }),
      });
    else if (exhausted || !this.#resendable(item)) this.#record({ ...head, result: 'unknown' });
    else this.#resend(item, aside, counts);
    if (exhausted) memory.gate.forget(item.batch);
  }

  #evidence({ dueSince }: Ready): Evidence {
    const { context } = this.run;
    const waited = context.clock.monotonic() - dueSince;
    return { servedAt: context.served.at, overdue: waited > context.retryFor };
  }

  #resendable(item: Ready): boolean {
    const { transport, clock } = this.run.context;
    return ageOf(item, clock) < transport.capabilities.idempotencyWindow;
  }

  #resend(item: Ready, wait: number, counts: boolean): void {
    const attempt = item.submission.attempt + (counts ? 1 : 0);
    if (counts) this.run.memory.gate.counts(item.batch, item.submission.id, attempt);
    this.stock.resend(
      { ...item, submission: { ...item.submission, attempt } },
      this.run.context.clock.monotonic() + wait,
    );
  }

  /** Nobody could be served: the lane waits, and says why. */
  #refused({ code, message, retryAfter }: Verdict): number {
    const { gate } = this.run.memory;
    const { restFor } = this.pause;
    // Requests that were in flight together fail together: that is one failure.
    const wait = restFor > 0 ? restFor : Math.min(LONGEST_PAUSE, gate.refused());
    this.#rest(retryAfter ?? wait, `${code}: ${message}`);
    return 0;
  }

  /** @returns milliseconds the batch is left aside */
  #strike(batch: string, { retryAfter }: Verdict): number {
    const { gate } = this.run.memory;
    const now = this.run.context.clock.monotonic();
    if (this.pause.restFor > 0) return gate.asideFor(batch, now);
    const { rest, aside } = gate.failed(batch, now, retryAfter);
    this.#rest(rest, null);
    return aside;
  }

  /** Nothing starts for `wait` milliseconds; what is ready goes back, so that policy sees it again. */
  #rest(wait: number, reason: string | null): void {
    this.pause.rest(wait, reason);
    this.withdraw(this.stock.withdraw());
  }

  #headOf({ batch, n, firstPosition, lastPosition }: Ready) {
    const { lease, context } = this.run;
    const { name: provider } = context.transport;
    return { batch, n, firstPosition, lastPosition, fence: lease.fence, provider };
  }

  #accepted(item: Ready, outcome: ReturnType<typeof outcomeOf>): Outcome {
    return Object.assign(this.#headOf(item), outcome, { intended: item });
  }

  /** An outcome is a fact: it is recorded however often the database has to be asked. */
  #record(outcome: Outcome): void {
    const returns = outcome.result === 'refused' || outcome.result === 'withdrawn';
    this.#recording++;
    if (returns) this.#returning++;
    this.run.context.outcomes.record(outcome).then(
      () => this.#recorded(returns),
      (error: unknown) => void this.#recordAgain(outcome, error, returns),
    );
  }

  async #recordAgain(outcome: Outcome, failure: unknown, returns: boolean): Promise<void> {
    const { run } = this;
    const error = await recordAgain(
      () => run.context.outcomes.record(outcome),
      failure,
      run.stopping,
      (cause) =>
        this.#logger.error(`${run.lane}: outcome not recorded yet: ${(cause as Error).name}`),
    );
    if (error !== undefined) {
      run.failure ??= error;
      this.#unrecorded++;
    }
    this.#recorded(returns);
  }

  #recorded(returns: boolean): void {
    this.#recording--;
    if (returns) {
      this.#returning--;
      this.stock.nudge();
    } else this.run.changed.wake();
  }
}
