import { isShared } from '../message/email-content.js';
import { NoRouteError } from '../message/errors.js';
import type { AppliedDecision } from '../policy/policy-pipeline.js';
import type { PlannedBatch } from '../store/rows/planned-batch.js';
import { LaneLostError } from '../store/verbs/intents.js';
import type { HeldLane } from './held-lane.js';
import { LONGEST_REST } from './failure-policy.js';
import { LARGEST_SLICE, SliceSize } from './prefetch-size.js';
import type { ProviderState } from './provider-state.js';
import type { Resends } from './resends.js';
import {
  decidePlanned,
  decidePrepared,
  type PreparedSubmission,
  slice,
  type Slice,
} from './submissions.js';

/** Age in milliseconds up to which a policy decision holds for a request that starts. */
const DECISION_LASTS = 1_000;

/** Share of the `concurrency` that is free before more is prepared, without idempotency keys. */
const LEAST_FREE = 0.25;

/** A plan of at most this many submissions may be the lane's last one. */
const SMALL_PLAN = 10;

/** Interval between two searches for a missing route, in milliseconds. */
const NO_ROUTE_REST = 30_000;

const NO_PROVIDER = '-';

interface Plan {
  readonly provider: ProviderState;
  readonly batches: readonly PlannedBatch[];
  /** Whether batches of another provider follow. */
  readonly cut: boolean;
}

/**
 * The lane's prepared work, in order: submissions whose intent is committed, and resends. Each
 * refill has the messages of one provider; while the next one's provider rests, the lane waits.
 */
export class Prefetch {
  filling = false;
  readonly #size: SliceSize;
  #queue: PreparedSubmission[] = [];
  /** Messages of the queue; they count against the budget of the process. */
  #messages = 0;
  /** Provider of the lane's next new message, according to the last plan. */
  #head: string | undefined;
  #withdrawals = 0;
  /** Number of nudges before the last plan, if it found that nothing more is due. */
  #dryAt = -1;

  constructor(
    private readonly held: HeldLane,
    private readonly resends: Resends,
  ) {
    const { context, memory } = held;
    this.#size = new SliceSize(() => memory.limiter, context.concurrency);
    this.#head = context.router.only;
  }

  get next(): PreparedSubmission | undefined {
    return this.#queue[0];
  }

  get nextProvider(): string | undefined {
    return this.next?.provider ?? this.#head ?? this.resends.provider;
  }

  /** Whether the last plan found that nothing more is due, and no new work was announced since. */
  get dry(): boolean {
    return this.#dryAt === this.held.nudges;
  }

  /** A resend of a parked batch starts after new messages while its provider is probed. */
  get resendsFirst(): boolean {
    if (this.resends.dueIn > 0) return false;
    return !this.resends.aside || (this.dry && this.#queue.length === 0);
  }

  /** Whether the policy decision on the submission is too old to start it. */
  isStale({ skipOutcome, decidedAt }: PreparedSubmission): boolean {
    if (skipOutcome || this.held.context.policy.policies.length === 0) return false;
    return this.held.now - decidedAt > DECISION_LASTS;
  }

  /** Whether a higher limit than the present cut the submission. A resend never changes. */
  isOversized({ resendAt, submission, positions: { length } }: PreparedSubmission): boolean {
    const most = this.held.memory.limiter?.share(length) ?? length;
    return resendAt === undefined && most < length && !isShared(submission.content);
  }

  /** Asks policy about the whole queue again; withdrawn messages get their decision in a new plan. */
  async decideAgain(): Promise<void> {
    const { held } = this;
    const { now } = held;
    const items = this.#queue.filter(({ skipOutcome }) => !skipOutcome);
    const decisions = await decidePrepared(held.context.policy, items);
    for (const item of items) item.decidedAt = now;
    this.#setApart((item) => {
      const decision = decisions.get(item);
      return decision !== undefined && (item.resendAt === undefined || this.#defer(item, decision));
    });
  }

  take(): PreparedSubmission {
    const item = this.#queue.shift() as PreparedSubmission;
    this.#count([item], -1);
    this.#size.started(item.positions.length);
    return item;
  }

  /** Withdraws what did not start. A submission that may have started stays as a resend. */
  withdraw(): void {
    this.#withdrawals++;
    this.#setApart(() => true);
  }

  refill(inFlight: number): void {
    if (this.filling) return;
    if (this.resendsFirst) return void this.#fill(() => this.#fillResends());
    const { recording, returning, context, pause } = this.held;
    if (this.dry || returning > 0 || recording >= LARGEST_SLICE) return;
    const { budget, providers, concurrency } = context;
    const unsettled = inFlight + recording;
    const capacity = concurrency - unsettled - this.#queue.length;
    if (this.#head !== undefined) {
      if (pause.restFor(this.#head) > 0) return;
      // Each refill is a plan and a commit, so that it waits for several free places.
      const least = this.#queue.length > 0 ? concurrency * LEAST_FREE : 1;
      if (capacity < least && providers.get(this.#head)?.honoursKeys === false) return;
    }
    const size = budget.share(this.#sizeFor(capacity), this.#messages);
    if (size === 0) return;
    budget.hold(size);
    const isIdle = unsettled === 0 && this.#queue.length === 0;
    const work = () => this.#fillNew(size, capacity, isIdle).finally(() => budget.hold(-size));
    void this.#fill(work);
  }

  /** Messages to plan; without idempotency keys no more than the requests that can start take. */
  #sizeFor(capacity: number): number {
    const { messages } = this.#size;
    const head = this.#head === undefined ? undefined : this.held.context.providers.get(this.#head);
    if (head === undefined || head.honoursKeys) return messages;
    return Math.min(messages, capacity * head.capabilities.maxRecipients);
  }

  async #fill(work: () => Promise<void>): Promise<void> {
    const { leased } = this.held;
    this.filling = true;
    await work().catch((error: unknown) => leased.fail(error));
    this.filling = false;
    leased.changed.wake();
  }

  async #fillResends(): Promise<void> {
    const items = await this.resends.take();
    this.#queue.unshift(...items);
    this.#count(items);
  }

  /**
   * @param capacity requests that can start now. Without idempotency keys the lane intends no more:
   * if the process dies, an intended submission becomes `unknown`, even where it did not start.
   * @param isIdle whether no submission is prepared, in flight or unrecorded
   */
  async #fillNew(size: number, capacity: number, isIdle: boolean): Promise<void> {
    const { context, memory, pause, nudges, now } = this.held;
    const withdrawals = this.#withdrawals;
    this.#size.adapt(now);
    const plan = await this.#plan(size);
    if (plan === undefined || plan instanceof NoRouteError) {
      this.#dryAt = nudges;
      // A message before this one may still come back.
      if (!isIdle) return;
      if (this.resends.batches <= 1) memory.alone();
      if (plan) pause.rest(NO_PROVIDER, NO_ROUTE_REST, `${plan.code}: ${plan.message}`);
      return;
    }
    const { provider, batches } = plan;
    const most = provider.honoursKeys ? Infinity : capacity;
    if (most <= 0 || pause.restFor(provider.name) > 0) return;
    const cut = slice(batches, await decidePlanned(context.policy, batches), {
      provider: provider.name,
      share: (wanted, { content }) => this.#share(provider, wanted, content),
      now,
      wallNow: context.clock.now(),
      most,
    });
    const live = await this.#intend(cut, withdrawals);
    // Nothing is due, or the next plan would be the same.
    if (cut.submissions.length === 0 || isLast(plan, cut, live)) this.#dryAt = nudges;
  }

  /** While the provider is probed, plans one message. `undefined`: nothing is due. */
  async #plan(size: number): Promise<Plan | NoRouteError | undefined> {
    const { context, leased, memory } = this.held;
    const plan = this.#routed(await context.work.plan(leased.lane, size));
    if (plan === undefined || plan instanceof NoRouteError) return plan;
    const { probing } = memory.failuresOf(plan.provider.name);
    return probing ? this.#routed(await context.work.probe(leased.lane)) : plan;
  }

  /** The first batches that one provider carries. An expired batch goes with any provider. */
  #routed(planned: readonly PlannedBatch[]): Plan | NoRouteError | undefined {
    if (planned.length === 0) return undefined;
    const [anyProvider] = this.held.context.providers.keys();
    const first = planned.find(({ expired }) => !expired);
    const route = first ? this.#routeOf(first) : anyProvider;
    if (route instanceof NoRouteError && first === planned[0]) {
      this.#head = NO_PROVIDER;
      return route;
    }
    const goes = (batch: PlannedBatch) => batch.expired || this.#routeOf(batch) === route;
    const end = planned.findIndex((batch) => !goes(batch));
    const batches = end < 0 ? planned : planned.slice(0, end);
    this.#head = route instanceof NoRouteError ? (anyProvider as string) : (route as string);
    return { provider: this.held.provider(this.#head), batches, cut: end >= 0 };
  }

  #routeOf(batch: PlannedBatch): string | NoRouteError {
    try {
      return this.held.context.router.providerOf(batch);
    } catch (error) {
      if (error instanceof NoRouteError) return error;
      throw error;
    }
  }

  /**
   * @param withdrawals number before the plan; after another one, other messages may go first
   * @returns ids of the batches that may start
   */
  async #intend(intent: Slice, withdrawals: number): Promise<ReadonlySet<string>> {
    const { held } = this;
    const { leased, context } = held;
    const { lane, fence } = leased.lease;
    const live = await leased
      .renewing(() => context.intents.record({ lane, fence, ...intent }))
      .catch((error: unknown) => {
        // The result of the commit is unknown, but none of its submissions has started.
        if (!(error instanceof LaneLostError)) this.#withdraw(intent.submissions);
        throw error;
      });
    const started = intent.submissions.filter(({ batch }) => live.has(batch));
    const [first] = started;
    const parkFor = first ? this.#asideFor(first) : 0;
    if (withdrawals !== this.#withdrawals || parkFor > 0) this.#withdraw(started, parkFor);
    else {
      this.#queue.push(...started);
      this.#count(started);
    }
    return live;
  }

  /**
   * Milliseconds for which another batch is the probe. The new messages of a batch whose submissions
   * stay uncertain are parked like the batch of a refused one.
   */
  #asideFor({ provider, batch, skipOutcome }: PreparedSubmission): number {
    const failures = this.held.memory.failuresOf(provider);
    if (skipOutcome || !failures.isAside(batch)) return 0;
    return Math.min(LONGEST_REST, failures.asideFor(batch, this.held.now));
  }

  /** Recipients who see each other are one request, which waits until the rate has room for it. */
  #share(
    { capabilities, rate }: ProviderState,
    wanted: number,
    content: PlannedBatch['content'],
  ): number {
    const most = Math.min(capabilities.maxRecipients, wanted);
    if (isShared(content)) return most;
    const own = this.held.memory.limiter?.share(most) ?? most;
    return rate?.share(own) ?? own;
  }

  /**
   * A resend never changes: one that policy denies or substitutes becomes `unknown`.
   * @returns whether policy defers it, and the provider honours its key until then
   */
  #defer(item: PreparedSubmission, decision: AppliedDecision): boolean {
    const { context, now } = this.held;
    if (decision.decision === 'defer') {
      const resendAt = now + Math.max(1, decision.until.getTime() - context.clock.now());
      const { idempotencyWindow } = this.held.provider(item.provider).capabilities;
      if (resendAt - item.intendedAt < idempotencyWindow) {
        item.resendAt = resendAt;
        return true;
      }
    }
    const errorCode = decision.decision === 'deny' ? decision.code : 'outcome_lost';
    item.skipOutcome = { result: 'unknown', errorCode };
    return false;
  }

  #setApart(isMeant: (item: PreparedSubmission) => boolean): void {
    const items = this.#queue.filter(isMeant);
    if (items.length === 0) return;
    const apart = new Set(items);
    this.#queue = this.#queue.filter((item) => !apart.has(item));
    this.#count(items, -1);
    this.#withdraw(items);
  }

  #withdraw(items: readonly PreparedSubmission[], parkFor = 0): void {
    for (const item of items)
      if (item.resendAt === undefined)
        this.held.record(item, { result: 'withdrawn', ...(parkFor > 0 && { parkFor }) });
      else this.resends.add(item, item.resendAt);
  }

  #count(items: readonly PreparedSubmission[], sign: 1 | -1 = 1): void {
    let messages = 0;
    for (const { positions } of items) messages += sign * positions.length;
    this.#messages += messages;
    this.held.context.budget.hold(messages);
  }
}

/** Whether the plan started all that is due, so that a lane with few messages needs no other plan. */
function isLast({ batches, cut }: Plan, intent: Slice, live: ReadonlySet<string>): boolean {
  return (
    !cut &&
    intent.submissions.length <= SMALL_PLAN &&
    live.size === batches.length &&
    !batches.at(-1)?.followed &&
    intent.batches.every(({ pending, parkUntil }) => !pending || parkUntil !== null)
  );
}
