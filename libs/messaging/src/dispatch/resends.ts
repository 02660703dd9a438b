import { judgeReady } from './lane-policy.js';
import type { LaneRun } from './lane-run.js';
import { LeaseKeeper } from './lease-keeper.js';
import { ageOf, type Ready, reopened } from './slice.js';

interface Resend {
  readonly ready: Ready;
  /** Monotonic milliseconds. */
  readonly dueAt: number;
}

/** Submissions that may have reached the provider and go out again as they are, each when it is due. */
export class Resends {
  /** In the order they are due. */
  readonly #waiting: Resend[] = [];

  constructor(private readonly run: LaneRun) {}

  /** Milliseconds until the first is due; `Infinity`: there is none. */
  get dueIn(): number {
    const [first] = this.#waiting;
    return first ? first.dueAt - this.run.context.clock.monotonic() : Infinity;
  }

  /** All that are due were put aside: others are tried first. */
  get aside(): boolean {
    const { context, memory } = this.run;
    const now = context.clock.monotonic();
    return this.#waiting.every(
      ({ ready, dueAt }) => dueAt > now || memory.gate.isAside(ready.batch),
    );
  }

  /** Batches they are of. */
  get batches(): ReadonlySet<string> {
    return new Set(this.#waiting.map(({ ready }) => ready.batch));
  }

  /** The same submission again, at `dueAt` on the monotonic clock. */
  add(ready: Ready, dueAt: number): void {
    this.#waiting.push({ ready: { ...ready, resent: true }, dueAt });
    this.#waiting.sort((a, b) => a.dueAt - b.dueAt);
  }

  /** Takes over what a former holder left open; returns what cannot go out again: nobody knows of it. */
  async recover(): Promise<Ready[]> {
    const { context, memory, lane } = this.run;
    const { transport, clock } = context;
    const now = clock.monotonic();
    const lost: Ready[] = [];
    for (const open of await context.work.open(lane)) {
      const counted = memory.gate.attemptOf(open.batch, `${open.batch}-s${open.n}`);
      const attempt = Math.max(open.attempt, counted);
      const item = reopened({ ...open, attempt }, now, clock.now());
      const resendable =
        open.provider === transport.name &&
        ageOf(item, clock) < transport.capabilities.idempotencyWindow;
      if (resendable) this.add(item, now + memory.gate.asideFor(item.batch, now));
      else lost.push(item);
    }
    return lost;
  }

  /** Those that are due, under this lease and by what policy says now; while probing, one. */
  async take(): Promise<Ready[]> {
    const { context, lane, lease, keeper } = this.run;
    const due = this.#takeDue(context.clock.monotonic());
    try {
      const { ready, later } = await this.#judge(due.map((resend) => resend.ready));
      const again = ready.filter(({ instead }) => !instead);
      const moment = LeaseKeeper.moment(context.clock);
      const open = await context.intents.resume(
        lane,
        lease.fence,
        again.map(({ batch, n, submission }) => ({ batch, n, attempt: submission.attempt })),
      );
      keeper.extend(moment);
      for (const item of later) this.add(item.ready, item.dueAt);
      // A former holder may have said at last what became of it.
      return ready.filter((item) => item.instead !== undefined || open.has(item.submission.id));
    } catch (error) {
      this.#waiting.unshift(...due);
      throw error;
    }
  }

  #takeDue(now: number): Resend[] {
    const { gate } = this.run.memory;
    const count = this.#waiting.filter(({ dueAt }) => dueAt <= now).length;
    if (!gate.probing) return this.#waiting.splice(0, count);
    const probe = this.#waiting.findIndex(({ ready }) => !gate.isAside(ready.batch));
    return this.#waiting.splice(probe > 0 && probe < count ? probe : 0, 1);
  }

  /**
   * What may have gone out is never changed: where policy now forbids a member, or wants other words, or
   * its time is over, it is not repeated and nobody knows; where policy defers, it waits as long as its
   * key is honoured.
   */
  async #judge(items: readonly Ready[]): Promise<{ ready: Ready[]; later: Resend[] }> {
    const { policy, transport, clock } = this.run.context;
    const rulings = await judgeReady(policy, items);
    const ready: Ready[] = [];
    const later: Resend[] = [];
    for (const item of items) {
      const ruling = rulings.get(item);
      if (item.validUntil <= clock.monotonic()) {
        ready.push({ ...item, instead: { result: 'unknown', errorCode: 'validity_over' } });
        continue;
      }
      const dueAt =
        ruling?.decision === 'defer' ? clock.monotonic() + ruling.until - clock.now() : Infinity;
      if (!ruling) ready.push(item);
      else if (dueAt - item.intendedAt < transport.capabilities.idempotencyWindow)
        later.push({ ready: item, dueAt });
      else {
        const errorCode = ruling.decision === 'deny' ? ruling.code : 'outcome_lost';
        ready.push({ ...item, instead: { result: 'unknown', errorCode } });
      }
    }
    return { ready, later };
  }
}
