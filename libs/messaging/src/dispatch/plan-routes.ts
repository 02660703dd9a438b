import { isShared } from '../message/email-content.js';
import type { RouteOf } from '../routing/router.js';
import type { PlannedBatch, PlannedRecipient } from '../store/rows/planned-batch.js';
import type { HeldLane } from './held-lane.js';
import { Refusals } from './refusals.js';
import { type Placement, SHORTEST_DEFERRAL } from './slice.js';

/** Interval between two searches for a missing route, in milliseconds. */
export const NO_ROUTE_REST = 30_000;

/**
 * The providers of one plan of a lane with several. Each message goes by the first provider of its
 * route that neither has refused it nor rests; where all of them rest, it waits, and messages of other
 * routes go on:
 *
 * ```
 * route ─▶ providers, in order ─▶ one that is free ─▶ its submission, written down with the intent
 *   │                          └▶ all rest ─▶ due again when the first rest is over
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
   * @param isOpen whether a request of the provider is prepared or in flight
   */
  constructor(
    private readonly held: HeldLane,
    private room: number,
    private readonly isOpen: (provider: string) => boolean,
  ) {}

  readonly routeOf = (batch: PlannedBatch, index: number): RouteOf | undefined => {
    if (batch !== this.#batch) {
      this.#batch = batch;
      this.#routeOf = this.held.context.router.routesOf(batch);
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
      return { waitFor: NO_ROUTE_REST };
    }
    const { context, memory, now } = this.held;
    const names = new Refusals(refusedBy).left(context.router.candidates(route, id));
    let shortest = Infinity;
    let isParked = false;
    for (const name of names) {
      const parkedFor = this.#parkedFor(name, batch);
      const wait = parkedFor > 0 ? parkedFor : this.#restOf(name);
      if (wait <= 0) return this.#take(name);
      if (wait < shortest) isParked = parkedFor > 0;
      shortest = Math.min(shortest, wait);
    }
    // Later messages of these providers do not overtake this one; those of other batches do, where
    // this batch is parked.
    if (!isParked) for (const name of names) memory.waitUntil(name, now + shortest);
    return { waitFor: shortest };
  };

  #take(name: string): Placement {
    if (this.held.provider(name).honoursKeys) return { provider: name };
    if (this.room <= 0) {
      this.isFull = true;
      return 'no room';
    }
    this.room--;
    return { provider: name };
  }

  /** Milliseconds for which another batch is the probe. */
  #parkedFor(name: string, { id }: PlannedBatch): number {
    const failures = this.held.memory.failuresOf(name);
    const parkedFor = failures.probing ? failures.batchParkedFor(id, this.held.now) : 0;
    return parkedFor > 0 ? Math.max(SHORTEST_DEFERRAL, parkedFor) : 0;
  }

  /** Milliseconds until the provider takes another message; while it is probed, one at a time. */
  #restOf(name: string): number {
    const { memory, pause } = this.held;
    const rest = pause.restFor(name);
    const others = memory.waitFor(name);
    // A wait ends when that of the messages before it does, or none would ever end.
    if (others > 0) return rest > others ? Math.max(SHORTEST_DEFERRAL, rest) : others;
    if (rest > 0) return Math.max(SHORTEST_DEFERRAL, rest);
    if (!memory.failuresOf(name).probing && !this.held.provider(name).breaker.isOpen) return 0;
    if (this.#probed.has(name) || this.isOpen(name)) return SHORTEST_DEFERRAL;
    this.#probed.add(name);
    return 0;
  }
}
