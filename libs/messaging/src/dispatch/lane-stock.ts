import type { IntendedBatch } from '../ledger/intent.js';
import { LaneLostError } from '../ledger/intent.recorder.js';
import type { PlannedBatch } from '../ledger/planned-batch.js';
import { judgePlanned, judgeReady, VERDICT_LASTS } from './lane-policy.js';
import type { LaneRun } from './lane-run.js';
import { LeaseKeeper } from './lease-keeper.js';
import { Resends } from './resends.js';
import { type Ready, slice } from './slice.js';

/** Messages planned at once where nothing limits the rate. */
const LARGEST_SLICE = 4_000;

/** A plan of at most so many messages that says nothing follows is believed; where more come, the next ones are on their way. */
const FEW = 10;

/** What the stock must know of the requests before it takes more. */
interface Refilled {
  readonly inFlight: number;
  /** Outcomes not yet committed, and those among them that set messages back. */
  readonly recording: number;
  readonly returning: number;
}

/**
 * The lane's work in hand, in order: submissions whose intent is committed, ready to start, and those
 * that started before and go out again. It refills itself a slice at a time.
 */
export class LaneStock {
  readonly #ready: Ready[] = [];
  /** Messages ready to start; a submission holds one or many. */
  #messages = 0;
  readonly #resends: Resends;
  /** When policy was asked last, monotonic milliseconds. */
  readonly #judgedAt = new WeakMap<Ready, number>();
  #filling = false;
  /** Requests whose outcome is not yet in the ledger. */
  #unsettled = 0;
  /**
   * Written down by a fill that a withdrawal overtook: others may have to go before them by now. Or by
   * one whose commit was never answered, and perhaps not at all.
   */
  readonly #overtaken: Ready[] = [];
  #withdrawals = 0;
  /** The last plan found nothing, and nobody has told of new work since. */
  #dry = false;
  #nudges = 0;
  #sliceSize: number;
  #filledAt = 0;

  constructor(private readonly run: LaneRun) {
    this.#resends = new Resends(run);
    this.#sliceSize =
      run.memory.limiter?.share(LARGEST_SLICE) ?? Math.max(64, run.context.concurrency);
  }

  get next(): Ready | undefined {
    return this.#ready[0];
  }

  get filling(): boolean {
    return this.#filling;
  }

  get dry(): boolean {
    return this.#dry && !this.#filling;
  }

  /** Milliseconds until the first resend is due; `Infinity`: there is none. */
  get resendIn(): number {
    return this.#resends.dueIn;
  }

  /** The verdict on the next one is too old to start by. */
  get stale(): boolean {
    const { policy, clock } = this.run.context;
    const { next } = this;
    if (!next || next.instead || policy.policies.length === 0) return false;
    return clock.monotonic() - (this.#judgedAt.get(next) ?? -Infinity) > VERDICT_LASTS;
  }

  /** Asks policy again about all that is ready; returns what has to be planned anew. */
  async judgeAgain(): Promise<Ready[]> {
    const { policy, clock } = this.run.context;
    const now = clock.monotonic();
    const items = this.#ready.filter(({ instead }) => !instead);
    const rulings = await judgeReady(policy, items);
    for (const item of items) if (!rulings.has(item)) this.#judgedAt.set(item, now);
    if (rulings.size === 0) return [];
    const changed = this.#ready.filter((item) => rulings.has(item));
    const kept = this.#ready.filter((item) => !rulings.has(item));
    this.#ready.splice(0, Infinity, ...kept);
    for (const { positions } of changed) this.#messages -= positions.length;
    return this.#setApart(changed, now);
  }

  /** New work may be due. */
  nudge(): void {
    this.#nudges++;
    this.#dry = false;
    this.run.changed.wake();
  }

  take(): Ready | undefined {
    const item = this.#ready.shift();
    this.#messages -= item?.positions.length ?? 0;
    return item;
  }

  /** A fill was overtaken by a withdrawal: withdraw once more. */
  get overtaken(): boolean {
    return this.#overtaken.length > 0;
  }

  /** Everything ready that did not start; what may have started before stays, to go out again. */
  withdraw(): Ready[] {
    this.#withdrawals++;
    this.#messages = 0;
    const now = this.run.context.clock.monotonic();
    return [...this.#overtaken.splice(0), ...this.#setApart(this.#ready.splice(0), now)];
  }

  #setApart(items: readonly Ready[], now: number): Ready[] {
    for (const item of items) if (item.resent) this.resend({ ...item, instead: undefined }, now);
    return items.filter(({ resent }) => !resent);
  }

  /** The same submission again, at `dueAt` on the monotonic clock. */
  resend(ready: Ready, dueAt: number): void {
    this.#resends.add(ready, dueAt);
  }

  /** Takes over what a former holder left open; returns what cannot go out again: nobody knows of it. */
  recover(): Promise<Ready[]> {
    return this.#resends.recover();
  }

  /** Keeps a whole slice ahead: planning and writing one down takes a good part of the time another needs to leave. */
  refill({ recording, returning, inFlight }: Refilled): void {
    if (this.#filling) return;
    this.#unsettled = inFlight + recording;
    const room = this.#room(this.#unsettled);
    const wanted =
      this.resendIn <= 0 ||
      (!this.#dry &&
        returning === 0 &&
        room > 0 &&
        this.#messages <= this.#sliceSize &&
        recording < LARGEST_SLICE);
    if (wanted) void this.#fill(room);
  }

  /** No other batch is on its way, or waits to go out again. */
  get #nothingElse(): boolean {
    return this.#unsettled === 0 && this.#ready.length === 0 && this.#resends.batches.size <= 1;
  }

  /**
   * Submissions that may be written down now. Without keys whatever is written down and has no outcome
   * in the ledger when the process dies becomes `unknown`, started or not: so only what can start at once.
   */
  #room(unsettled: number): number {
    const { transport, concurrency } = this.run.context;
    return transport.capabilities.idempotencyWindow > 0
      ? Infinity
      : concurrency - unsettled - this.#ready.length;
  }

  async #fill(room: number): Promise<void> {
    const { run } = this;
    this.#filling = true;
    try {
      await (this.resendIn <= 0 ? this.#fillResends() : this.#fillNew(room));
    } catch (error) {
      if (error instanceof LaneLostError) run.keeper.lose();
      else run.failure = error;
    } finally {
      this.#filling = false;
      run.changed.wake();
    }
  }

  async #fillResends(): Promise<void> {
    const judgedAt = this.run.context.clock.monotonic();
    const ready = await this.#resends.take();
    for (const item of ready) this.#judgedAt.set(item, judgedAt);
    this.#ready.unshift(...ready);
    for (const { positions } of ready) this.#messages += positions.length;
  }

  async #fillNew(room: number): Promise<void> {
    const { context, lane, lease, keeper, memory } = this.run;
    const { work, intents, transport, clock } = context;
    const { gate, limiter } = memory;
    const now = clock.monotonic();
    const nudges = this.#nudges;
    const alone = gate.probing && this.#nothingElse;
    const withdrawals = this.#withdrawals;
    if (!limiter) this.#adapt(now);
    const planned = await work.plan(lane, gate.probing ? 1 : this.#sliceSize);
    if (planned.length === 0) {
      this.#dry = nudges === this.#nudges;
      if (alone) gate.alone();
      return;
    }
    const { maxRecipients } = transport.capabilities;
    const share = (wanted: number) => {
      const most = Math.min(maxRecipients, limiter?.share(wanted) ?? wanted);
      return context.transportRate?.share(most) ?? most;
    };
    const judgedAt = clock.monotonic();
    const rulingOf = await judgePlanned(context.policy, planned);
    const limits = { share, now, wallNow: clock.now(), most: room };
    const { intent, ready } = slice(planned, rulingOf, limits);
    const moment = LeaseKeeper.moment(clock);
    const live = await intents
      .record({ lane, fence: lease.fence, transport: transport.name, ...intent })
      .catch((error: unknown) => {
        // Whether it was committed nobody knows; that none of it started is known here alone.
        if (!(error instanceof LaneLostError)) this.#overtaken.push(...ready);
        throw error;
      });
    keeper.extend(moment);
    // Nothing to start is nothing to do, or the next plan would be the same.
    if (ready.length === 0 || isLast(planned, intent.batches, live, ready))
      this.#dry = nudges === this.#nudges;
    for (const item of ready) {
      if (!live.has(item.batch)) continue;
      if (withdrawals !== this.#withdrawals) {
        this.#overtaken.push(item);
        continue;
      }
      this.#judgedAt.set(item, judgedAt);
      this.#ready.push(item);
      this.#messages += item.positions.length;
    }
  }

  /** A slice is what leaves in about a quarter second. */
  #adapt(now: number): void {
    const took = now - this.#filledAt;
    if (this.#filledAt > 0 && took < 125)
      this.#sliceSize = Math.min(LARGEST_SLICE, this.#sliceSize * 2);
    else if (this.#filledAt > 0 && took > 500)
      this.#sliceSize = Math.max(this.run.context.concurrency, this.#sliceSize >> 1);
    this.#filledAt = now;
  }
}

/** Nothing else of the lane is due: another plan would tell no more. */
function isLast(
  planned: readonly PlannedBatch[],
  intended: readonly IntendedBatch[],
  live: ReadonlySet<string>,
  ready: readonly Ready[],
): boolean {
  return (
    ready.length <= FEW &&
    live.size === planned.length &&
    !planned.at(-1)?.followed &&
    intended.every(({ pending, parkUntil }) => !pending || parkUntil !== null)
  );
}
