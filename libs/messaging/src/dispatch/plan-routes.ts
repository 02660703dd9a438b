import { isShared } from '../message/content/email-content.js';
import type { RouteOf } from '../routing/router.js';
import type { PlannedBatch, PlannedRecipient } from '../store/rows/planned-batch.js';
import type { LeasedWork } from './leased-work.js';
import { Refusals } from './refusals.js';
import type { Placement } from './slice.js';
import { NO_ROUTE_DEFERRAL, plannedDeferral } from './waits.js';

/** Deferral to the next plan, in milliseconds. */
const AT_ONCE = 0.001;

/**
 * The providers of one plan of a lane with several. Each message goes by the first provider of its
 * route that neither has refused it nor pauses; where all of them pause, it is deferred, and messages of
 * other routes go on:
 *
 * ```
 * route ─▶ providers, in order ─▶ one that is free ─▶ its submission, written down with the intent
 *   │                          └▶ all pause ─▶ due again when the first pause is over
 *   └ none ─▶ due again in 30 s
 * ```
 */
export class PlanRoutes {
  /** A message found no room: without idempotency keys no more requests are intended than can start. */
  isFull = false;
  /** A channel of which a message had no route. */
  withoutRoute: string | undefined;
  readonly #probed = new Set<string>();
  #batch: PlannedBatch | undefined;
  #routeOf: (recipient: string) => RouteOf | undefined = () => undefined;

  /**
   * @param room requests that can start now
   * @param plannedAt monotonic milliseconds before the plan was read
   * @param isBusy whether a request of the provider is prepared or in flight
   */
  constructor(
    private readonly work: LeasedWork,
    private room: number,
    private readonly plannedAt: number,
    private readonly isBusy: (provider: string) => boolean,
  ) {}

  readonly routeOf = (batch: PlannedBatch, index: number): RouteOf | undefined => {
    if (batch !== this.#batch) {
      this.#batch = batch;
      this.#routeOf = this.work.context.router.routesOf(batch);
    }
    // Recipients who see each other share one request.
    const place = isShared(batch.content) ? 0 : index;
    return this.#routeOf((batch.recipients[place] as PlannedRecipient).recipient);
  };

  readonly placementOf = (
    route: RouteOf | undefined,
    id: string,
    { refusedBy }: PlannedRecipient,
    batch: PlannedBatch,
  ): Placement => {
    if (!route) {
      this.withoutRoute = batch.channel;
      return { deferFor: NO_ROUTE_DEFERRAL };
    }
    const { context, memory, now } = this.work;
    const names = new Refusals(refusedBy).left(context.router.candidates(route, id));
    let shortest = Infinity;
    let isByBatch = false;
    for (const name of names) {
      const backsOffFor = memory.failuresOf(name).batchBacksOffFor(batch.id, now);
      const deferral = this.#deferralBy(name, backsOffFor);
      if (deferral <= 0) return this.#take(name, context.router.reasonFor(route, id, name));
      if (deferral < shortest) isByBatch = backsOffFor > 0;
      shortest = Math.min(shortest, deferral);
    }
    // Later messages of these providers do not overtake this one; those of other batches do, where
    // this batch backs off.
    if (!isByBatch) for (const name of names) memory.deferUntil(name, now + shortest);
    return { deferFor: shortest };
  };

  #take(name: string, reason: string | null): Placement {
    if (this.work.provider(name).honoursKeys) return { provider: name, reason };
    if (this.room <= 0) {
      this.isFull = true;
      return 'no room';
    }
    this.room--;
    return { provider: name, reason };
  }

  /** Milliseconds until the provider takes another message; while it is probed, one at a time. */
  #deferralBy(name: string, batch: number): number {
    const { memory, pause, now } = this.work;
    const until = memory.deferredUntil(name);
    return plannedDeferral({
      batch,
      provider: pause.pausedFor(name),
      // A plan that was read before its end may lack earlier messages, which have become due since.
      before: until > this.plannedAt ? Math.max(AT_ONCE, until - now) : 0,
      hasProbe: () => this.#hasProbe(name),
    });
  }

  /** Otherwise the message is its probe, where it needs one. */
  #hasProbe(name: string): boolean {
    const isProbed =
      this.work.memory.failuresOf(name).probing || this.work.provider(name).breaker.isOpen;
    if (!isProbed) return false;
    if (this.#probed.has(name) || this.isBusy(name)) return true;
    this.#probed.add(name);
    return false;
  }
}
