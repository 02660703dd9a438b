import { Logger } from '@nestjs/common';
import type { ConnectionPlaces, Transports } from '../ports/message-transport.js';
import { LeasedLane, type LeaseContext } from './leased-lane.js';

/** Prefix of the lanes that stand for places; reserved. */
const PREFIX = 'messaging-place:';

/** Longest time until a lapsed lease is noticed, in milliseconds. */
const LONGEST_CHECK = 1_000;

interface LimitedProvider {
  readonly name: string;
  readonly places: ConnectionPlaces;
}

/**
 * Leases the connections of providers that limit them over all processes. Each place is a lane without
 * work. A process takes all places that it needs, of all such providers, or none, so that no two
 * processes wait for each other; without them it works on no lane of messages:
 *
 * ```
 * waiting ── enough places are free ─▶ connected ── a lease lapses, or the process stops ─▶ closing
 *    ▲                                                                                         │
 *    └───────────────── places released, once every connection has ended ◀─────────────────────┘
 * ```
 *
 * A lease counts for two thirds of its time (see `LeasedLane`), and connections end within a further
 * quarter: before another process may take the place.
 */
export class PlaceKeeper {
  readonly #logger = new Logger('Places');
  readonly #limited: readonly LimitedProvider[];
  readonly #stopping = { aborted: false, over: false };
  #leases: readonly LeasedLane[] = [];
  #watch: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;
  /** Said once, until it changes. */
  #said = '';

  constructor(
    private readonly context: Pick<LeaseContext, 'lanes' | 'clock' | 'leaseTime'>,
    transports: Transports,
  ) {
    this.#limited = [...transports].flatMap(([name, { places }]) =>
      places ? [{ name, places }] : [],
    );
  }

  /** Whether a provider limits the connections of all processes. */
  get isNeeded(): boolean {
    return this.#limited.length > 0;
  }

  /** Whether this process may send: it has the places that it needs. */
  get isLeased(): boolean {
    if (!this.isNeeded) return true;
    return !this.#closing && this.#leases.length > 0 && this.#leases.every(({ valid }) => valid);
  }

  owns(lane: string): boolean {
    return lane.startsWith(PREFIX);
  }

  /** The places that all processes have, by provider. */
  async taken(): Promise<ReadonlyMap<string, { readonly taken: number; readonly most: number }>> {
    const { lanes } = this.context;
    const counts = this.#limited.map(async ({ name, places: { most } }) => {
      const { size } = await lanes.leased(lanesOf(name, most));
      return [name, { taken: size, most }] as const;
    });
    return new Map(await Promise.all(counts));
  }

  /** Takes the places and connects, if enough of them are free; a failed try is logged once. */
  async take(): Promise<void> {
    if (this.#leases.length > 0 || this.#closing || this.#stopping.aborted) return;
    try {
      const free = await this.#free();
      if (free && (await this.#lease(free))) this.#connect();
    } catch (error) {
      this.#say('warn', `no place taken: ${(error as Error).name}`);
    }
  }

  /** Takes no place any more; those of this process stay until `giveUp()`. */
  stop(): void {
    this.#stopping.aborted = true;
  }

  /** Ends the connections, then releases the places. */
  giveUp(): Promise<void> {
    if (this.#leases.length === 0) return Promise.resolve();
    return (this.#closing ??= this.#giveUp().finally(() => (this.#closing = undefined)));
  }

  /** Lanes of the free places that this process needs; `undefined`: there are too few. */
  async #free(): Promise<readonly string[] | undefined> {
    const wanted: string[] = [];
    for (const { name, places } of this.#limited) {
      const all = lanesOf(name, places.most);
      const leased = await this.context.lanes.leased(all);
      const free = all.filter((lane) => !leased.has(lane)).slice(0, places.needed);
      if (free.length < places.needed) {
        const left = places.most - leased.size;
        this.#say(
          'log',
          `${name}: waits for ${places.needed} connections; ${left} of ${places.most} are free`,
        );
        return undefined;
      }
      wanted.push(...free);
    }
    return wanted;
  }

  /** False: another process was faster, or this one stops. */
  async #lease(places: readonly string[]): Promise<boolean> {
    const tries = await Promise.allSettled(
      places.map((place) => LeasedLane.take(place, this.context, this.#stopping)),
    );
    this.#leases = tries.flatMap((one) =>
      one.status === 'fulfilled' && one.value ? [one.value] : [],
    );
    const isWhole = this.#leases.length === places.length && !this.#stopping.aborted;
    if (!isWhole) await this.#release();
    return isWhole;
  }

  #connect(): void {
    for (const { name, places } of this.#limited) {
      this.#say('log', `${name}: took ${places.needed} of ${places.most} connections`);
      places.connect(() => this.isLeased);
    }
    const every = Math.min(LONGEST_CHECK, this.context.leaseTime / 12);
    this.#watch = setInterval(() => this.isLeased || void this.giveUp(), every);
    this.#watch.unref();
  }

  async #giveUp(): Promise<void> {
    clearInterval(this.#watch);
    if (!this.#stopping.aborted)
      this.#say('warn', 'the leases of connections ran out: they are closed');
    const limit = this.context.leaseTime / 6;
    await Promise.all(this.#limited.map(({ places }) => places.disconnect(limit)));
    await this.#release();
  }

  async #release(): Promise<void> {
    const leases = this.#leases;
    for (const leased of leases) leased.stop();
    const released = await Promise.allSettled(
      leases.map(({ lease: { lane, fence } }) =>
        this.context.lanes.release(lane, fence, null, false),
      ),
    );
    this.#leases = [];
    const failed = released.find((one) => one.status === 'rejected');
    if (failed) this.#say('warn', `places not released, free after ${this.context.leaseTime} ms`);
  }

  #say(level: 'log' | 'warn', text: string): void {
    if (text !== this.#said) this.#logger[level](text);
    this.#said = text;
  }
}

function lanesOf(provider: string, most: number): string[] {
  return Array.from({ length: most }, (_, place) => `${PREFIX}${provider}:${place}`);
}
