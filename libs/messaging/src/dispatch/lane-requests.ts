import { Logger } from '@nestjs/common';
import type { Outcome } from '../ledger/outcome.js';
import type { Evidence } from './lane-gate.js';
import type { LaneRun } from './lane-run.js';
import type { LaneStock } from './lane-stock.js';
import { ageOf, type Ready } from './slice.js';
import { outcomeOf, type Verdict, verdictOf } from './submit-verdict.js';

/** A provider that was not there is asked again at least this often, in milliseconds. */
const LONGEST_PAUSE = 30_000;

/** Milliseconds a transport that was told to give up has left before its request is given up for it. */
const GRACE = 5_000;

/** The lane's requests in flight, what their answers mean for the lane, and their outcomes on the way to the ledger. */
export class LaneRequests {
  readonly #logger = new Logger('Lane');
  readonly #inFlight = new Map<Ready, AbortController>();
  #recording = 0;
  #returning = 0;
  #restUntil: number;
  #reason: string | null;
  /** A pause is written in the lane's row. */
  #paused: boolean;
  /** Until when the lane rests by its row, whoever wrote that. */
  readonly #restRead: number;
  #pauseWrites: Promise<void> = Promise.resolve();

  constructor(
    private readonly run: LaneRun,
    private readonly stock: LaneStock,
  ) {
    const { lease, context } = run;
    this.#reason = lease.pauseReason;
    this.#paused = lease.pauseReason !== null;
    this.#restRead = lease.pausedFor > 0 ? context.clock.monotonic() + lease.pausedFor : -Infinity;
    this.#restUntil = this.#restRead;
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

  get settled(): boolean {
    return this.#inFlight.size === 0 && this.#recording === 0;
  }

  /** Milliseconds during which nothing may start. */
  get restFor(): number {
    return this.#restUntil - this.run.context.clock.monotonic();
  }

  /** The lane's row tells when it goes on. */
  get restRecorded(): boolean {
    return this.#paused || this.#restUntil === this.#restRead;
  }

  start(item: Ready): void {
    const { context, memory } = this.run;
    const instead = item.instead ?? insteadOfLate(item, context.clock.monotonic());
    if (instead) {
      this.#record({ ...this.#headOf(item), ...instead });
      return;
    }
    const controller = new AbortController();
    const timeout = setTimeout(() => controller.abort(), context.timeout);
    controller.signal.addEventListener('abort', () => this.#giveUpOn(item), { once: true });
    this.#inFlight.set(item, controller);
    const answered = this.#exchange(item, controller.signal);
    // Counted once it is on its way: a pause in between must not make it look earlier than it was.
    memory.limiter?.start(item.positions.length, context.clock.monotonic());
    context.transportRate?.start(item.positions.length);
    answered.then(
      (outcome) => {
        clearTimeout(timeout);
        if (this.#settle(item)) this.#passed(item.batch);
        // Even one that was given up: it is a fact.
        this.#record({ ...this.#headOf(item), ...outcome });
      },
      (error: unknown) => {
        clearTimeout(timeout);
        if (this.#settle(item)) this.#failed(item, verdictOf(error));
      },
    );
  }

  /** Whatever goes wrong in here, a transport that throws or answers nonsense included, is a failure of this request. */
  async #exchange(item: Ready, signal: AbortSignal): Promise<ReturnType<typeof outcomeOf>> {
    return outcomeOf(item, await this.run.context.transport.submit(item.submission, signal));
  }

  /** A transport that ignores its signal must not hold the lane. */
  #giveUpOn(item: Ready): void {
    setTimeout(() => {
      if (this.#settle(item)) this.#failed(item, verdictOf(undefined));
    }, GRACE).unref();
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
    for (const controller of this.#inFlight.values()) controller.abort();
  }

  /** False: it was settled before. */
  #settle(item: Ready): boolean {
    const inFlight = this.#inFlight.delete(item);
    this.run.changed.wake();
    return inFlight;
  }

  #passed(batch: string): void {
    const { context, memory, lane } = this.run;
    memory.gate.passed(batch);
    context.served.at = context.clock.monotonic();
    if (!this.#paused) return;
    this.#paused = false;
    this.#reason = null;
    this.#logger.log(`${lane}: goes on`);
    this.#writePause();
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
    const aside = kind === 'paused' ? this.#pause(verdict) : this.#strike(item.batch, verdict);
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
    this.stock.resend(
      { ...item, submission: { ...item.submission, attempt } },
      this.run.context.clock.monotonic() + wait,
    );
  }

  /** Nobody could be served: the lane waits, and says why. */
  #pause({ code, message, retryAfter }: Verdict): number {
    const { gate } = this.run.memory;
    // Requests that were in flight together fail together: that is one failure.
    const wait = this.restFor > 0 ? this.restFor : Math.min(LONGEST_PAUSE, gate.refused());
    this.#rest(retryAfter ?? wait, storable(`${code}: ${message}`));
    return 0;
  }

  /** @returns milliseconds the batch is left aside */
  #strike(batch: string, { retryAfter }: Verdict): number {
    const { gate } = this.run.memory;
    const now = this.run.context.clock.monotonic();
    if (this.restFor > 0) return gate.asideFor(batch, now);
    const { rest, aside } = gate.failed(batch, now, retryAfter);
    this.#rest(rest, null);
    return aside;
  }

  /** Nothing starts for `wait` milliseconds; what is ready goes back, so that policy sees it again. */
  #rest(wait: number, reason: string | null): void {
    const { context, lane } = this.run;
    this.#restUntil = Math.max(this.#restUntil, context.clock.monotonic() + wait);
    this.withdraw(this.stock.withdraw());
    if (reason === null) return;
    if (this.#reason !== reason) this.#logger.warn(`${lane}: paused: ${reason}`);
    this.#reason = reason;
    this.#paused = true;
    this.#writePause();
  }

  /** The lane's row tells how it stands now; one write at a time, so that the last one stays. */
  #writePause(): void {
    const { context, lane, lease } = this.run;
    this.#pauseWrites = this.#pauseWrites
      .then(() =>
        context.lanes.pause(
          lane,
          lease.fence,
          this.#paused ? Math.max(0, this.restFor) : 0,
          this.#paused ? this.#reason : null,
        ),
      )
      .catch(() => undefined);
  }

  /** Resolves once the lane's row tells what the lane knows. */
  async pausesWritten(): Promise<void> {
    await this.#pauseWrites;
  }

  #headOf({ batch, n, firstPosition, lastPosition }: Ready) {
    const { lease, context } = this.run;
    const { name: transport } = context.transport;
    return { batch, n, firstPosition, lastPosition, fence: lease.fence, transport };
  }

  /** An outcome is a fact: it is recorded however often the database has to be asked. */
  #record(outcome: Outcome): void {
    const { run } = this;
    const returns = outcome.result === 'refused' || outcome.result === 'withdrawn';
    this.#recording++;
    if (returns) this.#returning++;
    const attempt = (tries: number): Promise<void> =>
      run.context.outcomes.record(outcome).catch(async (error: unknown) => {
        if (run.stopping.aborted && tries > 3) throw error;
        this.#logger.error(`${run.lane}: outcome not recorded yet: ${(error as Error).name}`);
        await new Promise((resolve) => setTimeout(resolve, Math.min(5_000, 100 * 2 ** tries)));
        return attempt(tries + 1);
      });
    void attempt(0)
      .catch((error: unknown) => {
        run.failure ??= error;
      })
      .finally(() => {
        this.#recording--;
        if (returns) this.#returning--;
        if (returns) this.stock.nudge();
        else run.changed.wake();
      });
  }
}

/** Its time was over before it could start; what may have started before is judged with its resend. */
function insteadOfLate({ validUntil, resent }: Ready, now: number): Ready['instead'] {
  return !resent && validUntil <= now ? { result: 'expired' } : undefined;
}

/** A reason for people, as the lane's row can hold it. */
function storable(reason: string): string {
  return reason
    .slice(0, 512)
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .slice(0, 255);
}
