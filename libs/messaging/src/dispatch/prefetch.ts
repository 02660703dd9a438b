import { NoRouteError } from '../message/errors.js';
import type { IntendedBatch } from '../store/rows/intent.js';
import { LaneLostError } from '../store/verbs/intents.js';
import type { PlannedBatch } from '../store/rows/planned-batch.js';
import { LeaseKeeper } from './lease-keeper.js';
import type { HeldLane } from './held-lane.js';
import { LARGEST_SLICE, PrefetchQueue, SliceSize } from './prefetch-queue.js';
import type { ProviderState } from './provider-state.js';
import { Resends } from './resends.js';
import {
  DECISION_LASTS,
  decidePlanned,
  decidePrepared,
  type PreparedSubmission,
  slice,
} from './submissions.js';

/**
 * A plan of at most this many submissions may be the lane's last one; after a larger plan, more messages are probably
 * due.
 */
const SMALL_PLAN = 10;

/** Interval between two searches for a missing route, in milliseconds. */
const NO_ROUTE_REST = 30_000;

/** Counts that decide whether the lane prefetches more. */
interface RequestCounts {
  readonly inFlight: number;
  /** Outcomes not yet committed. */
  readonly recording: number;
  /** Those of them that set messages back to `queued`. */
  readonly returning: number;
}

/** Next messages of the lane, all of one provider. */
interface Plan {
  readonly provider: ProviderState;
  readonly batches: readonly PlannedBatch[];
  /** Batches of another provider were planned behind these. */
  readonly cut: boolean;
}

/**
 * The lane's prepared work, in order: submissions whose intent is committed, and resends. The lane refills it one
 * slice at a time. A slice has the messages of one provider. While the provider of the next message rests, the lane
 * waits for it.
 */
export class Prefetch {
  readonly #queue: PrefetchQueue;
  readonly #resends: Resends;
  readonly #sliceSize: SliceSize;
  /** Time of the last policy decision, in monotonic milliseconds. */
  readonly #decidedAt = new WeakMap<PreparedSubmission, number>();
  /** Provider of the lane's next new message, according to the last plan. */
  #head: string | undefined;
  #filling = false;
  /** Requests whose outcome is not yet in the store. */
  #unsettled = 0;
  /**
   * Submissions to withdraw. Either a withdrawal happened during their fill, so that other messages may have to go
   * first, or the database did not answer the commit of their fill.
   */
  readonly #overtaken: PreparedSubmission[] = [];
  #withdrawals = 0;
  /** The last plan found nothing, and no new work was announced since. */
  #dry = false;
  #nudges = 0;

  constructor(private readonly held: HeldLane) {
    const { context, memory } = held;
    this.#queue = new PrefetchQueue(context.budget);
    this.#resends = new Resends(held);
    this.#sliceSize = new SliceSize(memory.limiter, context.concurrency);
    this.#head = context.router.only;
  }

  get next(): PreparedSubmission | undefined {
    return this.#queue.next;
  }

  /**
   * Provider of the next message: that of a prepared message, of the last plan, or of the first resend; `undefined`
   * where it is not known.
   */
  get nextProvider(): string | undefined {
    return this.#queue.next?.provider ?? this.#head ?? this.#resends.provider;
  }

  get filling(): boolean {
    return this.#filling;
  }

  get dry(): boolean {
    return this.#dry && !this.#filling;
  }

  /** Milliseconds until the first resend is due; `Infinity` without resends. */
  get resendIn(): number {
    return this.#resends.dueIn;
  }

  /**
   * Whether a due resend starts before new messages. While its provider is probed, a parked batch starts after them.
   */
  get resendsFirst(): boolean {
    if (this.resendIn > 0) return false;
    return !this.#resends.aside || (this.#dry && this.#queue.length === 0);
  }

  /** Whether the policy decision on the next submission is too old to start it. */
  get stale(): boolean {
    const { policy, clock } = this.held.context;
    const { next } = this;
    if (!next || next.skipOutcome || policy.policies.length === 0) return false;
    return clock.monotonic() - (this.#decidedAt.get(next) ?? -Infinity) > DECISION_LASTS;
  }

  /**
   * Asks the policies again about all prepared submissions.
   * @returns the submissions that must be planned again
   */
  async decideAgain(): Promise<PreparedSubmission[]> {
    const { policy, clock } = this.held.context;
    const now = clock.monotonic();
    const items = this.#queue.items.filter(({ skipOutcome }) => !skipOutcome);
    const decisions = await decidePrepared(policy, items);
    for (const item of items) if (!decisions.has(item)) this.#decidedAt.set(item, now);
    if (decisions.size === 0) return [];
    return this.#setApart(
      this.#queue.remove((item) => decisions.has(item)),
      now,
    );
  }

  /** Announces that new work may be due. */
  nudge(): void {
    this.#nudges++;
    this.#dry = false;
    this.held.changed.wake();
  }

  take(): PreparedSubmission | undefined {
    const item = this.#queue.shift();
    if (item) this.#sliceSize.left(item.positions.length);
    return item;
  }

  /** Whether a withdrawal happened during a fill, whose submissions must then be withdrawn too. */
  get overtaken(): boolean {
    return this.#overtaken.length > 0;
  }

  /** Removes all submissions that did not start. A submission that may have started stays as a resend. */
  withdraw(): PreparedSubmission[] {
    this.#withdrawals++;
    const now = this.held.context.clock.monotonic();
    const prepared = this.#queue.remove(() => true);
    return [...this.#overtaken.splice(0), ...this.#setApart(prepared, now)];
  }

  #setApart(items: readonly PreparedSubmission[], now: number): PreparedSubmission[] {
    for (const item of items)
      if (item.resent) this.resend({ ...item, skipOutcome: undefined }, now);
    return items.filter(({ resent }) => !resent);
  }

  /** Resends `item` at `dueAt` on the monotonic clock. */
  resend(item: PreparedSubmission, dueAt: number): void {
    this.#resends.add(item, dueAt);
  }

  /**
   * Takes over the submissions that former holders left open.
   * @returns the submissions whose outcome is lost
   */
  recover(): Promise<PreparedSubmission[]> {
    return this.#resends.recover();
  }

  /** Prefetches work within the budget of all lanes. */
  refill({ recording, returning, inFlight }: RequestCounts): void {
    if (this.#filling) return;
    this.#unsettled = inFlight + recording;
    if (this.resendsFirst) return void this.#fill(() => this.#fillResends());
    if (this.#dry || returning > 0 || recording >= LARGEST_SLICE) return;
    const { budget, providers, concurrency } = this.held.context;
    const capacity = concurrency - this.#unsettled - this.#queue.length;
    if (this.#head !== undefined) {
      if (this.held.pause.restFor(this.#head) > 0) return;
      if (capacity <= 0 && providers.get(this.#head)?.honoursKeys === false) return;
    }
    const size = budget.share(this.#sliceSize.messages, this.#queue.messages);
    if (size === 0) return;
    budget.hold(size);
    void this.#fill(() => this.#fillNew(size, capacity).finally(() => budget.release(size)));
  }

  /** Whether no other batch is in flight or waits for a resend. */
  get #nothingElse(): boolean {
    return this.#unsettled === 0 && this.#queue.length === 0 && this.#resends.batches.size <= 1;
  }

  async #fill(work: () => Promise<void>): Promise<void> {
    const { held } = this;
    this.#filling = true;
    try {
      await work();
    } catch (error) {
      held.fail(error);
    } finally {
      this.#filling = false;
      held.changed.wake();
    }
  }

  async #fillResends(): Promise<void> {
    const decidedAt = this.held.context.clock.monotonic();
    const prepared = await this.#resends.take();
    for (const item of prepared) this.#decidedAt.set(item, decidedAt);
    this.#queue.unshift(prepared);
  }

  /**
   * @param capacity number of requests that can start now. At a provider without idempotency keys, an intended
   * submission without an outcome becomes `unknown` if the process dies, even where it did not start. The lane
   * intends no more than `capacity` submissions there.
   */
  async #fillNew(size: number, capacity: number): Promise<void> {
    const { context, lane, lease, keeper, memory, pause } = this.held;
    const { intents, clock } = context;
    const now = clock.monotonic();
    const nudges = this.#nudges;
    const withdrawals = this.#withdrawals;
    const alone = this.#nothingElse ? memory.probing : [];
    this.#sliceSize.adapt(now);
    const plan = await this.#plan(size);
    if (!plan) {
      this.#dry = nudges === this.#nudges;
      for (const failures of alone) failures.alone();
      return;
    }
    const { provider, batches } = plan;
    const most = provider.honoursKeys ? Infinity : capacity;
    if (most <= 0 || pause.restFor(provider.name) > 0) return;
    const decidedAt = clock.monotonic();
    const decisionOf = await decidePlanned(context.policy, batches);
    const { intent, prepared } = slice(batches, decisionOf, {
      provider: provider.name,
      share: (wanted) => this.#share(provider, wanted),
      now,
      wallNow: clock.now(),
      most,
    });
    const moment = LeaseKeeper.moment(clock);
    const live = await intents
      .record({ lane, fence: lease.fence, ...intent })
      .catch((error: unknown) => {
        // The result of the commit is unknown, but none of its submissions has started.
        if (!(error instanceof LaneLostError)) this.#overtaken.push(...prepared);
        throw error;
      });
    keeper.extend(moment);
    // A plan without submissions means that nothing is due, or that the next plan would be the same.
    if (prepared.length === 0 || isLast(plan, intent.batches, live, prepared))
      this.#dry = nudges === this.#nudges;
    for (const item of prepared) {
      if (!live.has(item.batch)) continue;
      if (withdrawals !== this.#withdrawals) {
        this.#overtaken.push(item);
        continue;
      }
      this.#decidedAt.set(item, decidedAt);
      this.#queue.push(item);
    }
  }

  /** Plans the lane's next messages; while their provider is probed, one message. `undefined`: nothing is due. */
  async #plan(size: number): Promise<Plan | undefined> {
    const { context, lane, memory, pause } = this.held;
    const { work } = context;
    const isProbing = (provider: string | undefined) =>
      provider !== undefined && memory.failuresOf(provider).probing;
    const probing = isProbing(this.#head);
    let planned = await (probing ? work.probe(lane) : work.plan(lane, size));
    if (planned.length === 0) return undefined;
    try {
      let provider = this.#routed(planned);
      if (!probing && isProbing(provider.name)) {
        planned = await work.probe(lane);
        if (planned.length === 0) return undefined;
        provider = this.#routed(planned);
      }
      const { router } = context;
      const other =
        router.only === undefined
          ? planned.findIndex((batch) => router.providerOf(batch) !== provider.name)
          : -1;
      return other < 0
        ? { provider, batches: planned, cut: false }
        : { provider, batches: planned.slice(0, other), cut: true };
    } catch (error) {
      if (!(error instanceof NoRouteError)) throw error;
      this.#head = NO_PROVIDER;
      pause.rest(NO_PROVIDER, NO_ROUTE_REST, `${error.code}: ${error.message}`);
      return undefined;
    }
  }

  /** Provider of the first planned batch. */
  #routed([first]: readonly PlannedBatch[]): ProviderState {
    this.#head = this.held.context.router.providerOf(first as PlannedBatch);
    return this.held.provider(this.#head);
  }

  #share({ capabilities, rate }: ProviderState, wanted: number): number {
    const { limiter } = this.held.memory;
    const most = Math.min(capabilities.maxRecipients, limiter?.share(wanted) ?? wanted);
    return rate?.share(most) ?? most;
  }
}

/** Placeholder for the provider of a message that no route matches. */
const NO_PROVIDER = '-';

/** Whether the plan covers all due messages of the lane, so that another plan would find nothing. */
function isLast(
  { batches, cut }: Plan,
  intended: readonly IntendedBatch[],
  live: ReadonlySet<string>,
  prepared: readonly PreparedSubmission[],
): boolean {
  return (
    !cut &&
    prepared.length <= SMALL_PLAN &&
    live.size === batches.length &&
    !batches.at(-1)?.followed &&
    intended.every(({ pending, parkUntil }) => !pending || parkUntil !== null)
  );
}
