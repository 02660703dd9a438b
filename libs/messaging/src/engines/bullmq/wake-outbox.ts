import { randomUUID } from 'node:crypto';
import type { JobsOptions, Queue } from 'bullmq';
import { LATE, type LaneJob, within } from './broker.js';
import { BrokerTimeoutError } from './broker-failure.js';

const MAX_LANES_PER_TRIP = 500;

/** Most lanes that wait for the broker; further wakes are not sent. */
const MAX_WAITING = 10_000;

/** Interval in milliseconds in which a lane is woken once: else every message would wake it. */
const QUIET_INTERVAL = 10;

/** Ended jobs are not kept: a kept job would deduplicate the lane's next one. */
const REMOVE = { removeOnComplete: true, removeOnFail: true, attempts: 1 } as const;

export interface WakeOutboxOptions {
  /** Longest time of a round trip, in milliseconds. */
  readonly deadline: number;
  readonly queue: () => Queue<LaneJob>;
  readonly onSent: () => void;
  /** Called with the lanes whose wake the broker did not take; the engine runs them another way. */
  readonly onUnsent: (lanes: readonly string[], error: unknown) => void;
}

/**
 * Sends wakes to the broker, each lane once per round trip, one round trip at a time. A limited
 * number of lanes wait; a wake that misses its deadline is returned.
 */
export class WakeOutbox {
  readonly #waiting = new Set<string>();
  /** Lanes woken in this interval; true: woken again since. */
  readonly #quiet = new Map<string, boolean>();
  #flushing: Promise<void> | undefined;

  constructor(private readonly options: WakeOutboxOptions) {}

  /** @param atOnce also within the quiet interval */
  add(lane: string, atOnce = false): void {
    if (this.#quiet.has(lane) && !atOnce) this.#quiet.set(lane, true);
    else if (this.#waiting.size >= MAX_WAITING)
      this.options.onUnsent([lane], new BrokerTimeoutError('timed out'));
    else {
      this.#waiting.add(lane);
      this.#flushing ??= this.#flush();
    }
  }

  /** Tests the broker with a harmless write. @throws the error of the broker */
  async probe(): Promise<void> {
    const options = { ...REMOVE, deduplication: { id: 'probe' } };
    await this.#send((queue) => queue.add('probe', { lane: '' }, options));
  }

  async idle(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  async close(): Promise<void> {
    this.#wakeAgain();
    await this.idle();
  }

  async #flush(): Promise<void> {
    // Wakes of one turn of the event loop share a round trip.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const lanes = [...this.#waiting].slice(0, MAX_LANES_PER_TRIP);
      for (const lane of lanes) this.#waiting.delete(lane);
      this.#rest(lanes);
      try {
        await this.#send((queue) => queue.addBulk(lanes.map(jobOf)));
        this.options.onSent();
      } catch (error) {
        this.options.onUnsent(lanes, error);
      }
    }
    this.#flushing = undefined;
  }

  #rest(lanes: readonly string[]): void {
    if (this.#quiet.size === 0) setTimeout(() => this.#wakeAgain(), QUIET_INTERVAL);
    for (const lane of lanes) this.#quiet.set(lane, false);
  }

  #wakeAgain(): void {
    const quiet = [...this.#quiet];
    this.#quiet.clear();
    for (const [lane, isWoken] of quiet) if (isWoken) this.add(lane);
  }

  async #send(write: (queue: Queue<LaneJob>) => Promise<unknown>): Promise<void> {
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
