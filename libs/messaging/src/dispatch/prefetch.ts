import { NoRouteError } from '../message/errors.js';
import { isShared } from '../message/content/email-content.js';
import type { AppliedDecision } from '../policy/policy-pipeline.js';
import type { PlannedBatch } from '../store/rows/planned-batch.js';
import { LaneLostError } from '../store/verbs/intents.js';
import { inLaneOrder } from './lane-order.js';
import type { LeasedWork } from './leased-work.js';
import { LARGEST_SLICE, SliceSize } from './prefetch-size.js';
import type { ProviderState } from './provider-state.js';
import { PlanRoutes } from './plan-routes.js';
import type { Resends } from './resends.js';
import { slice, type Slice } from './slice.js';
import { decidePlanned, decidePrepared, type PreparedSubmission } from './submissions.js';
import { NO_ROUTE_DEFERRAL } from './waits.js';

/** Age in milliseconds up to which a policy decision holds for a request that starts. */
const DECISION_LASTS = 1_000;

/** Share of the `concurrency` that is free before more is prepared, without idempotency keys. */
const LEAST_FREE = 0.25;

/** Fewest messages of a plan for several providers: some of them may be deferred. */
const LEAST_PLAN = 16;

/** A plan of at most this many submissions may be the lane's last one. */
const SMALL_PLAN = 10;

/** In the place of a provider's name, where a message has no route. */
const NO_PROVIDER = '-';

/**
 * The lane's prepared work, in order: submissions whose intent is committed, and resends. Where all
 * messages of the lane have one provider, the lane pauses with it; where they have several, each plan
 * gives every message to a provider that does not pause, and defers the others.
 */
export class Prefetch {
  filling = false;
  readonly #size: SliceSize;
  #queue: PreparedSubmission[] = [];
  /** Messages of the queue; they count against the budget of the process. */
  #messages = 0;
  /** The provider of all messages of the lane; `undefined`: they have several, or none was planned. */
  #only: string | undefined;
  /** The last plan prepared less than was due: no more requests may start. */
  #isFull = false;
  #withdrawals = 0;
  #takesResends = false;
  /** Number of nudges before the last plan, if it found that nothing more is due. */
  #dryAt = -1;

  constructor(
    private readonly work: LeasedWork,
    private readonly resends: Resends,
  ) {
    const { context, memory } = work;
    this.#size = new SliceSize(() => memory.limiter, context.concurrency);
    this.#only = context.router.only;
  }

  /**
   * The next submission. Where its provider takes no more now, it is the first one of another provider:
   * each provider gets its own in order.
   * @param waitOf milliseconds until the provider takes it
   */
  next(waitOf: (item: PreparedSubmission) => number): PreparedSubmission | undefined {
    let [next] = this.#queue;
    if (!next || !this.isShared) return next;
    let shortest = Infinity;
    const seen = new Set<string>();
    for (const item of this.#queue) {
      if (seen.has(item.provider)) continue;
      const wait = waitOf(item);
      if (wait <= 0) return item;
      seen.add(item.provider);
      if (wait < shortest) [next, shortest] = [item, wait];
      if (seen.size === this.work.context.providers.size) break;
    }
    return next;
  }

  /** Provider of the first submission, or of all messages of the lane. */
  get nextProvider(): string | undefined {
    return this.#queue[0]?.provider ?? this.#only;
  }

  /** While the provider of the next submission pauses, messages of other providers go on. */
  get isShared(): boolean {
    return this.#only === undefined;
  }

  /** Whether the last plan found that nothing more is due, and no new work was announced since. */
  get dry(): boolean {
    return this.#dryAt === this.work.nudges;
  }

  /** A resend that steps aside starts after new messages while its provider is probed. */
  get resendsFirst(): boolean {
    if (this.#takesResends) return true;
    if (this.resends.dueIn > 0) return false;
    return !this.resends.allStepAside || (this.dry && this.#queue.length === 0);
  }

  /** Whether the policy decision on the submission is too old to start it. */
  isStale({ skipOutcome, decidedAt }: PreparedSubmission): boolean {
    if (skipOutcome || this.work.context.policy.policies.length === 0) return false;
    return this.work.now - decidedAt > DECISION_LASTS;
  }

  /** Whether a higher limit than the present cut the submission. A resend never changes. */
  isOversized({ resendAt, submission, positions: { length } }: PreparedSubmission): boolean {
    const most = this.work.memory.limiter?.share(length) ?? length;
    return resendAt === undefined && most < length && !isShared(submission.content);
  }

  /** Asks policy about the whole queue again; withdrawn messages get their decision in a new plan. */
  async decideAgain(): Promise<void> {
    const { work } = this;
    const { now } = work;
    const items = this.#queue.filter(({ skipOutcome }) => !skipOutcome);
    const decisions = await decidePrepared(work.context.policy, items);
    for (const item of items) item.decidedAt = now;
    this.#setApart((item) => {
      const decision = decisions.get(item);
      return decision !== undefined && (item.resendAt === undefined || this.#defer(item, decision));
    });
  }

  take(item: PreparedSubmission): PreparedSubmission {
    this.#queue.splice(this.#queue.indexOf(item), 1);
    this.#count([item], -1);
    this.#size.started(item.positions.length);
    return item;
  }

  /** Withdraws submissions that did not start. One that may have started stays as a resend. */
  withdraw(): void {
    this.#withdrawals++;
    this.#setApart(() => true);
  }

  refill(inFlight: number): void {
    if (this.filling) return;
    if (this.resendsFirst) return void this.#fill(() => this.#fillResends());
    const { recording, returning, context, pause } = this.work;
    if (this.dry || returning > 0 || recording >= LARGEST_SLICE) return;
    const { budget, providers, concurrency } = context;
    const unsettled = inFlight + recording;
    const capacity = concurrency - unsettled - this.#queue.length;
    // Each refill is a plan and a commit, so that it waits for several free places.
    const least = this.#queue.length > 0 ? concurrency * LEAST_FREE : 1;
    const only = this.#only === undefined ? undefined : providers.get(this.#only);
    if (only && pause.pausedFor(only.name) > 0) return;
    if (capacity < least && (this.#isFull || !this.#honoursKeys)) return;
    const size = budget.share(this.#sizeFor(capacity), this.#messages);
    if (size === 0) return;
    budget.reserve(size);
    const isIdle = unsettled === 0 && this.#queue.length === 0;
    const work = () => this.#fillNew(size, capacity, isIdle).finally(() => budget.reserve(-size));
    void this.#fill(work);
  }

  /** Messages to plan; without idempotency keys no more than the requests that can start take. */
  #sizeFor(capacity: number): number {
    const { messages } = this.#size;
    if (this.#honoursKeys) return messages;
    const most = this.#providers.map(({ capabilities }) => capabilities.maxRecipients);
    const least = this.#only === undefined ? LEAST_PLAN : 0;
    return Math.min(messages, Math.max(least, capacity * Math.max(...most)));
  }

  /** Whether a provider of the lane gets a submission again under its key. */
  get #honoursKeys(): boolean {
    return this.#providers.some(({ honoursKeys }) => honoursKeys);
  }

  /** Those that the lane's messages may have. */
  get #providers(): readonly ProviderState[] {
    const { providers } = this.work.context;
    const only = this.#only === undefined ? undefined : providers.get(this.#only);
    return only ? [only] : [...providers.values()];
  }

  async #fill(work: () => Promise<void>): Promise<void> {
    const { leased } = this.work;
    this.filling = true;
    await work().catch((error: unknown) => leased.fail(error));
    this.filling = false;
    leased.changed.wake();
  }

  /** Those that are taken one by one, while their provider is probed, keep the order of the lane. */
  async #fillResends(): Promise<void> {
    const withdrawals = this.#withdrawals;
    this.#takesResends = true;
    const items = await this.resends.take().finally(() => (this.#takesResends = false));
    // Earlier ones may be due again.
    if (withdrawals !== this.#withdrawals) return this.#withdraw(items);
    const isResend = ({ resendAt }: PreparedSubmission) => resendAt !== undefined;
    const resends = [...this.#queue.filter(isResend), ...items].toSorted(inLaneOrder);
    this.#queue = [...resends, ...this.#queue.filter((item) => !isResend(item))];
    this.#count(items);
  }

  /**
   * @param capacity requests that can start now. Without idempotency keys the lane intends no more:
   * if the process dies, an intended submission becomes `unknown`, even where it did not start.
   * @param isIdle whether no submission is prepared, in flight or unrecorded
   */
  async #fillNew(size: number, capacity: number, isIdle: boolean): Promise<void> {
    const { nudges, now } = this.work;
    const withdrawals = this.#withdrawals;
    this.#size.adapt(now);
    const batches = await this.#plan(size);
    if (batches.length === 0) {
      this.#dryAt = nudges;
      // A message before this one may still come back.
      if (isIdle) this.#foundAlone();
      return;
    }
    const cut = await (this.#only === undefined
      ? this.#sliceByRoutes(batches, capacity, now)
      : this.#sliceFor(this.work.provider(this.#only), batches, capacity));
    if (!cut || cut.batches.length === 0) return;
    this.work.memory.order.planned(cut);
    const live = await this.#intend(cut, withdrawals);
    // All that was due waits by now.
    const isOver = cut.submissions.length === 0 && !this.#isFull && !batches.at(-1)?.followed;
    if (isOver && isIdle) this.#foundAlone();
    if (isOver || isLast(batches, cut, live)) this.#dryAt = nudges;
  }

  /** `undefined`: nothing may start. */
  async #sliceFor(
    provider: ProviderState,
    batches: readonly PlannedBatch[],
    capacity: number,
  ): Promise<Slice | undefined> {
    const { context, pause, now } = this.work;
    const most = provider.honoursKeys ? Infinity : capacity;
    if (most <= 0 || pause.pausedFor(provider.name) > 0) return undefined;
    const way = { provider: provider.name };
    return slice(batches, await decidePlanned(context.policy, batches), {
      routeOf: () => undefined,
      placementOf: () => way,
      share: (_, wanted, { content }) => this.#share(provider, wanted, content),
      anyProvider: provider.name,
      now,
      wallNow: context.clock.now(),
      most,
    });
  }

  /** Messages whose providers all pause are deferred; while a provider is probed, it gets one message. */
  async #sliceByRoutes(
    batches: readonly PlannedBatch[],
    capacity: number,
    plannedAt: number,
  ): Promise<Slice> {
    const { work } = this;
    const { context, pause, now } = work;
    const [anyProvider = NO_PROVIDER] = context.providers.keys();
    const isBusy = (provider: string) =>
      (work.inFlight.get(provider) ?? 0) > 0 ||
      this.#queue.some((item) => item.provider === provider);
    await context.router.refreshed();
    const decisionOf = await decidePlanned(context.policy, batches);
    const routes = new PlanRoutes(work, capacity, plannedAt, isBusy);
    const cut = slice(batches, decisionOf, {
      routeOf: routes.routeOf,
      placementOf: routes.placementOf,
      share: (name, wanted, { content }) => {
        const provider = work.provider(name);
        const probing = work.memory.failuresOf(name).probing || provider.breaker.isOpen;
        return this.#share(provider, probing ? 1 : wanted, content);
      },
      anyProvider,
      now,
      wallNow: context.clock.now(),
      most: Infinity,
    });
    this.#isFull = routes.isFull;
    if (routes.withoutRoute !== undefined) {
      const { code, message } = new NoRouteError(routes.withoutRoute);
      pause.add(NO_PROVIDER, NO_ROUTE_DEFERRAL, `${code}: ${message}`);
    }
    return cut;
  }

  /** Tells the failure policy that only failing batches are due. */
  #foundAlone(): void {
    if (this.resends.batches <= 1) this.work.memory.alone();
  }

  /** While the only provider of the lane is probed, plans one message. */
  async #plan(size: number): Promise<readonly PlannedBatch[]> {
    const { context, leased, memory, pause } = this.work;
    const { router } = context;
    const batches = await context.work.plan(leased.lane, size);
    const [first] = batches;
    if (!first) return batches;
    // With the option `lane`, a lane may have several tenants and channels.
    this.#only = router.only ?? (context.lane ? undefined : router.onlyOf(first));
    pause.planned(this.#only === undefined);
    const probing = this.#only !== undefined && memory.failuresOf(this.#only).probing;
    return probing ? context.work.probe(leased.lane) : batches;
  }

  /**
   * @param withdrawals number before the plan; after another one, other messages may go first
   * @returns ids of the batches that may start
   */
  async #intend(intent: Slice, withdrawals: number): Promise<ReadonlySet<string>> {
    const { work } = this;
    const { leased, context } = work;
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
    const backsOffFor =
      first && !first.skipOutcome && !this.isShared ? this.#backsOffFor(first) : 0;
    if (withdrawals !== this.#withdrawals || backsOffFor > 0) this.#withdraw(started, backsOffFor);
    else {
      this.#queue.push(...started);
      this.#count(started);
    }
    return live;
  }

  /** Milliseconds for which another batch is the probe. */
  #backsOffFor({ provider, batch }: PreparedSubmission): number {
    return this.work.memory.failuresOf(provider).batchBacksOffFor(batch, this.work.now);
  }

  /** Recipients who see each other are one request, which waits until the rate has room for it. */
  #share(
    { capabilities, rate }: ProviderState,
    wanted: number,
    content: PlannedBatch['content'],
  ): number {
    const { maxRecipients, maxShared = maxRecipients } = capabilities;
    if (isShared(content)) return Math.min(maxShared, wanted);
    const most = Math.min(maxRecipients, wanted);
    const own = this.work.memory.limiter?.share(most) ?? most;
    return rate?.share(own) ?? own;
  }

  /**
   * A resend never changes: one that policy denies or substitutes becomes `unknown`.
   * @returns whether policy defers it, and the provider honours its key until then
   */
  #defer(item: PreparedSubmission, decision: AppliedDecision): boolean {
    const { context, now } = this.work;
    if (decision.decision === 'defer') {
      const resendAt = now + Math.max(1, decision.until.getTime() - context.clock.now());
      const { idempotencyWindow } = this.work.provider(item.provider).capabilities;
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

  /** @param backsOffFor milliseconds for which their batch backs off */
  #withdraw(items: readonly PreparedSubmission[], backsOffFor = 0): void {
    const { order } = this.work.memory;
    for (const item of items)
      if (item.resendAt === undefined) {
        order.withdrawn(item, backsOffFor > 0);
        const attempts = item.submission.attempt - 1;
        void this.work.record(item, {
          result: 'withdrawn',
          attempts,
          deferBatchFor: backsOffFor,
        });
      } else this.resends.add(item, item.resendAt, item.asked);
  }

  #count(items: readonly PreparedSubmission[], sign: 1 | -1 = 1): void {
    let messages = 0;
    for (const { positions } of items) messages += sign * positions.length;
    this.#messages += messages;
    this.work.context.budget.reserve(messages);
  }
}

/** Whether the plan started all that is due, so that a lane with few messages needs no other plan. */
function isLast(
  batches: readonly PlannedBatch[],
  intent: Slice,
  live: ReadonlySet<string>,
): boolean {
  return (
    intent.submissions.length <= SMALL_PLAN &&
    live.size === batches.length &&
    !batches.at(-1)?.followed &&
    intent.batches.every(({ pending, deferUntil }) => !pending || deferUntil !== null)
  );
}
