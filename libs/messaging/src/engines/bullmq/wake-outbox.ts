import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { JobsOptions, Queue } from 'bullmq';
import { GroupCommit } from '../../store/database/group-commit.js';
import { LATE, type LaneJob, within } from './broker.js';
import { BrokerTimeoutError } from './broker-failure.js';

const MAX_LANES_PER_TRIP = 500;

/** Shortest time between two round trips in milliseconds: else every message would wake its lane. */
const TRIP_INTERVAL = 10;

/** Ended jobs are not kept: a kept job would deduplicate the lane's next one. */
const REMOVE = { removeOnComplete: true, removeOnFail: true, attempts: 1 } as const;

interface WakeOutboxOptions {
  /** Longest time of a round trip, in milliseconds. */
  readonly deadline: number;
  readonly queue: () => Queue<LaneJob>;
  readonly onSent: () => void;
  /** Called for a lane whose wake the broker did not take; the engine runs it another way. */
  readonly onUnsent: (lane: string, error: unknown) => void;
}

/** Sends wakes to the broker, each lane once per round trip, one round trip at a time. */
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

  /** Tests the broker with a harmless write. @throws the error of the broker */
  probe(): Promise<void> {
    const options = { ...REMOVE, deduplication: { id: 'probe' } };
    return this.#write((queue) => queue.add('probe', { lane: '' }, options));
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
    await this.#write((queue) => queue.addBulk(lanes.map(jobOf)));
    return lanes.map(() => undefined);
  }

  async #write(write: (queue: Queue<LaneJob>) => Promise<unknown>): Promise<void> {
    const { deadline, queue } = this.options;
    if ((await within(deadline, write(queue()))) === LATE)
      throw new BrokerTimeoutError('timed out');
  }
}

function jobOf(lane: string): { name: string; data: LaneJob; opts: JobsOptions } {
  const id = Buffer.from(lane).toString('base64url');
  // Own ids: those of the broker start again when it is wiped.
  const jobId = randomUUID();
  const deduplication = { id, keepLastIfActive: true };
  return { name: 'drain', data: { lane }, opts: { ...REMOVE, jobId, deduplication } };
}
