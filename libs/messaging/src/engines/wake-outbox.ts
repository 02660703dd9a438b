import { setTimeout as wait } from 'node:timers/promises';
import { GroupCommit } from '../store/database/group-commit.js';

const MAX_LANES_PER_TRIP = 500;

/** Shortest time between two round trips in milliseconds: else every message would wake its lane. */
const TRIP_INTERVAL = 10;

interface WakeOutboxOptions {
  /** One round trip. */
  readonly send: (lanes: readonly string[]) => Promise<unknown>;
  readonly onSent: () => void;
  /** Called for a lane whose wake did not leave; the engine runs it another way. */
  readonly onUnsent: (lane: string, error: unknown) => void;
}

/** Sends wakes to other processes, each lane once per round trip, one round trip at a time. */
export class WakeOutbox {
  /** Lanes whose wake waits for the next round trip. */
  readonly #waiting = new Map<string, Promise<void>>();
  readonly #trips: GroupCommit<string, void>;
  #nextTrip = 0;

  constructor(private readonly options: WakeOutboxOptions) {
    this.#trips = new GroupCommit((take) => this.#send(take), {
      maxItems: MAX_LANES_PER_TRIP,
      isItemError: () => false,
    });
  }

  /** Resolves once the wake was sent, or `onUnsent` was called. */
  add(lane: string): Promise<void> {
    const { onSent, onUnsent } = this.options;
    const sent =
      this.#waiting.get(lane) ??
      this.#trips.add(lane).then(onSent, (error: unknown) => onUnsent(lane, error));
    this.#waiting.set(lane, sent);
    return sent;
  }

  idle(): Promise<void> {
    return this.#trips.idle();
  }

  async #send(take: () => readonly string[]): Promise<void[]> {
    const rest = this.#nextTrip - performance.now();
    if (rest > 0) await wait(rest);
    const lanes = take();
    for (const lane of lanes) this.#waiting.delete(lane);
    this.#nextTrip = performance.now() + TRIP_INTERVAL;
    await this.options.send(lanes);
    return lanes.map(() => undefined);
  }
}
