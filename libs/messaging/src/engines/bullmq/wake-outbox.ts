import { randomBytes } from 'node:crypto';
import type { JobsOptions, Queue } from 'bullmq';
import type { LaneJob } from './broker.js';
import { BrokerTimeoutError } from './broker-failure.js';

/** Most lanes in one round trip. */
const MAX_LANES_PER_TRIP = 500;

/** Most lanes that wait for the broker; further wakes are not sent. */
const MAX_WAITING = 10_000;

/** Interval in which a lane that already has a job is woken at most once more, in milliseconds. */
const QUIET_INTERVAL = 10;

/** Names of jobs. */
export const DRAIN = 'drain';
export const WAKE = 'wake';
const PROBE = 'probe';

export interface WakeOutboxOptions {
  /** Longest time a wake may take to reach the broker, in milliseconds. */
  readonly deadline: number;
  /** Returns the queue to write to, or throws. */
  readonly queue: () => Promise<Queue<LaneJob>>;
  readonly onSent: () => void;
  /** Called with the wakes that the broker did not take; the engine runs them another way. */
  readonly onUnsent: (wakes: readonly Wake[], error: unknown) => void;
}

export interface Wake {
  readonly lane: string;
  /** Epoch milliseconds; absent for now. */
  readonly at?: number;
}

/**
 * Sends wakes to the broker, each lane once per round trip, one round trip at a time. Regardless of the broker, at
 * most one round trip is under way and a limited number of lanes wait. A wake that misses its deadline is returned.
 */
export class WakeOutbox {
  readonly #now = new Set<string>();
  readonly #later = new Map<string, number>();
  /** Earliest scheduled wake of this process, by lane. */
  readonly #scheduled = new Map<string, number>();
  /** Lanes that recently had a job, at whose end the store is read again. */
  readonly #quiet = new Set<string>();
  readonly #afterwards = new Set<string>();
  readonly #run = randomBytes(6).toString('hex');
  #count = 0;
  #flushing: Promise<void> | undefined;
  /** A round trip that outlived its deadline. No other starts until it ends. */
  #stuck: Promise<unknown> | undefined;

  constructor(private readonly options: WakeOutboxOptions) {}

  add({ lane, at }: Wake): void {
    if (this.#now.size + this.#later.size >= MAX_WAITING) return this.#refuse([wakeOf(lane, at)]);
    if (at !== undefined && at > Date.now()) {
      const known = this.#scheduled.get(lane) ?? Infinity;
      if (known <= at && known > Date.now()) return;
      this.#later.set(lane, Math.min(at, this.#later.get(lane) ?? Infinity));
    } else if (this.#quiet.has(lane)) {
      this.#afterwards.add(lane);
      return;
    } else this.#now.add(lane);
    this.#flushing ??= this.#flush();
  }

  /** Tests the broker with a harmless write. @throws the error of the broker */
  async probe(): Promise<void> {
    await this.#send((queue) =>
      queue.add(PROBE, { lane: '' }, { ...REMOVE, deduplication: { id: PROBE } }),
    );
  }

  /** Resolves when no wake is left to send. */
  async idle(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  async #flush(): Promise<void> {
    // Wakes of one turn of the event loop share a round trip.
    await Promise.resolve();
    while (this.#now.size + this.#later.size > 0) {
      const wakes = this.#take();
      try {
        await this.#send((queue) => this.#put(queue, wakes));
        this.options.onSent();
      } catch (error) {
        this.#refuse(wakes, error);
      }
    }
    this.#flushing = undefined;
  }

  #take(): Wake[] {
    const wakes: Wake[] = [];
    for (const lane of this.#now) {
      if (wakes.length >= MAX_LANES_PER_TRIP) return wakes;
      this.#now.delete(lane);
      wakes.push({ lane });
    }
    for (const [lane, at] of this.#later) {
      if (wakes.length >= MAX_LANES_PER_TRIP) return wakes;
      this.#later.delete(lane);
      wakes.push({ lane, at });
    }
    return wakes;
  }

  async #put(queue: Queue<LaneJob>, wakes: readonly Wake[]): Promise<void> {
    const jobs = wakes.map((wake) => this.#jobOf(wake));
    const put = await queue.addBulk(jobs);
    for (const [index, { lane, at }] of wakes.entries())
      if (at !== undefined) this.#remember(lane, at);
      else if (put[index]?.id !== jobs[index]?.opts.jobId) this.#collapse(lane);
  }

  #jobOf({ lane, at }: Wake): { name: string; data: LaneJob; opts: JobsOptions } {
    const jobId = `${this.#run}-${(this.#count++).toString(36)}`;
    const data = { lane };
    if (at !== undefined)
      return { name: WAKE, data, opts: { ...REMOVE, jobId, delay: Math.max(1, at - Date.now()) } };
    const id = Buffer.from(lane).toString('base64url');
    return {
      name: DRAIN,
      data,
      opts: { ...REMOVE, jobId, deduplication: { id, keepLastIfActive: true } },
    };
  }

  #remember(lane: string, at: number): void {
    this.#scheduled.delete(lane);
    this.#scheduled.set(lane, at);
    for (const oldest of this.#scheduled.keys()) {
      if (this.#scheduled.size <= MAX_WAITING) return;
      this.#scheduled.delete(oldest);
    }
  }

  /**
   * Collapses the wakes of a lane that has a job: without it, every message would wake the lane. One more wake
   * follows later.
   */
  #collapse(lane: string): void {
    if (this.#quiet.size === 0)
      setTimeout(() => {
        this.#quiet.clear();
        for (const again of this.#afterwards) this.add({ lane: again });
        this.#afterwards.clear();
      }, QUIET_INTERVAL);
    this.#quiet.add(lane);
  }

  async #send<T>(write: (queue: Queue<LaneJob>) => Promise<T>): Promise<T> {
    if (this.#stuck) throw new BrokerTimeoutError('timed out before');
    const writing = this.options.queue().then(write);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, this.options.deadline, 'late');
    });
    const ended = await Promise.race([writing, late]).finally(() => clearTimeout(timer));
    if (ended !== 'late') return ended;
    const stuck = writing
      .catch(() => undefined)
      .finally(() => {
        if (this.#stuck === stuck) this.#stuck = undefined;
      });
    this.#stuck = stuck;
    throw new BrokerTimeoutError('timed out');
  }

  #refuse(wakes: readonly Wake[], error: unknown = new BrokerTimeoutError('timed out')): void {
    this.options.onUnsent(wakes, error);
  }
}

/** Ended jobs are not kept: a kept job would deduplicate the lane's next one. */
const REMOVE = { removeOnComplete: true, removeOnFail: true, attempts: 1 } as const;

function wakeOf(lane: string, at: number | undefined): Wake {
  return at === undefined ? { lane } : { lane, at };
}
