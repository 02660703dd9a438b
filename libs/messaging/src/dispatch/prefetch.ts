import type { IntendedBatch } from '../store/intent.js';
import { LaneLostError } from '../store/intent.recorder.js';
import type { PlannedBatch } from '../store/planned-batch.js';
import { judgePlanned, judgeReady, VERDICT_LASTS } from './lane-policy.js';
import type { LaneRun } from './lane-run.js';
import { LeaseKeeper } from './lease-keeper.js';
import { PrefetchQueue } from './ready-queue.js';
import { Resends } from './resends.js';
import { type Ready, slice } from './slice.js';
import { LARGEST_SLICE, SliceSize } from './slice-size.js';

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
export class Prefetch {
  readonly #ready: PrefetchQueue;
  readonly #resends: Resends;
  /** When policy was asked last, monotonic milliseconds. */
  readonly #judgedAt = new WeakMap<Ready, number>();
  #filling = false;
  /** Requests whose outcome is not yet in the store. */
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
  readonly #sliceSize: SliceSize;

  constructor(private readonly run: LaneRun) {
    this.#ready = new PrefetchQueue(run.context.stock);
    this.#resends = new Resends(run);
    this.#sliceSize = new SliceSize(run);
  }

  get next(): Ready | undefined {
    return this.#ready.next;
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

  /** What went out before goes before anything new; while probing, what was put aside goes after it. */
  get resendsFirst(): boolean {
    if (this.resendIn > 0) return false;
    return !this.#resends.aside || (this.#dry && this.#ready.length === 0);
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
    const items = this.#ready.items.filter(({ instead }) => !instead);
    const rulings = await judgeReady(policy, items);
    for (const item of items) if (!rulings.has(item)) this.#judgedAt.set(item, now);
    if (rulings.size === 0) return [];
    return this.#setApart(
      this.#ready.remove((item) => rulings.has(item)),
      now,
    );
  }

  /** New work may be due. */
  nudge(): void {
    this.#nudges++;
    this.#dry = false;
    this.run.changed.wake();
  }

  take(): Ready | undefined {
    const item = this.#ready.shift();
    if (item) this.#sliceSize.left(item.positions.length);
    return item;
  }

  /** A fill was overtaken by a withdrawal: withdraw once more. */
  get overtaken(): boolean {
    return this.#overtaken.length > 0;
  }

  /** Everything ready that did not start; what may have started before stays, to go out again. */
  withdraw(): Ready[] {
    this.#withdrawals++;
    const now = this.run.context.clock.monotonic();
    const ready = this.#ready.remove(() => true);
    return [...this.#overtaken.splice(0), ...this.#setApart(ready, now)];
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

  /** Keeps some ahead, as the budget of all lanes allows. */
  refill({ recording, returning, inFlight }: Refilled): void {
    if (this.#filling) return;
    this.#unsettled = inFlight + recording;
    if (this.resendsFirst) return void this.#fill(() => this.#fillResends());
    const room = this.#room(this.#unsettled);
    if (this.#dry || returning > 0 || room <= 0 || recording >= LARGEST_SLICE) return;
    const { stock } = this.run.context;
    const size = stock.share(this.#sliceSize.messages, this.#ready.messages);
    if (size === 0) return;
    stock.hold(size);
    void this.#fill(() => this.#fillNew(size, room).finally(() => stock.release(size)));
  }

  /** No other batch is on its way, or waits to go out again. */
  get #nothingElse(): boolean {
    return this.#unsettled === 0 && this.#ready.length === 0 && this.#resends.batches.size <= 1;
  }

  /**
   * Submissions that may be written down now. Without keys whatever is written down and has no outcome
   * in the store when the process dies becomes `unknown`, started or not: so only what can start at once.
   */
  #room(unsettled: number): number {
    const { transport, concurrency } = this.run.context;
    return transport.capabilities.idempotencyWindow > 0
      ? Infinity
      : concurrency - unsettled - this.#ready.length;
  }

  async #fill(work: () => Promise<void>): Promise<void> {
    const { run } = this;
    this.#filling = true;
    try {
      await work();
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
    this.#ready.unshift(ready);
  }

  async #fillNew(size: number, room: number): Promise<void> {
    const { context, lane, lease, keeper, memory } = this.run;
    const { work, intents, transport, clock } = context;
    const { gate, limiter } = memory;
    const now = clock.monotonic();
    const nudges = this.#nudges;
    const alone = gate.probing && this.#nothingElse;
    const withdrawals = this.#withdrawals;
    this.#sliceSize.adapt(now);
    const planned = await (gate.probing ? work.probe(lane) : work.plan(lane, size));
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
    const limits = { provider: transport.name, share, now, wallNow: clock.now(), most: room };
    const { intent, ready } = slice(planned, rulingOf, limits);
    const moment = LeaseKeeper.moment(clock);
    const live = await intents
      .record({ lane, fence: lease.fence, ...intent })
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
    }
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
