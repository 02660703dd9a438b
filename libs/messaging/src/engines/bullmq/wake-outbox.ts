import { randomBytes } from 'node:crypto';
import type { JobsOptions, Queue } from 'bullmq';
import type { LaneJob } from './broker.js';
import { BrokerTimeoutError } from './broker-failure.js';

/** Lanes in one round trip. */
const LANES = 500;

/** Lanes that may wait for the broker; more are not sent. */
const WAITING = 10_000;

/** Milliseconds during which a lane that has a job already is not woken again but once. */
const QUIET = 10;

/** Names of jobs. */
export const DRAIN = 'drain';
export const WAKE = 'wake';
const PROBE = 'probe';

export interface WakeOutboxOptions {
  /** Milliseconds. */
  readonly deadline: number;
  /** Gives the queue to write to, or throws. */
  readonly queue: () => Promise<Queue<LaneJob>>;
  readonly onSent: () => void;
  /** The broker did not take these: whoever can, sees to them. */
  readonly onUnsent: (wakes: readonly Wake[], error: unknown) => void;
}

export interface Wake {
  readonly lane: string;
  /** Epoch milliseconds; now where it is left out. */
  readonly at?: number;
}

/**
 * Takes wakes to the broker, each lane once in one round trip, the next round trip when the last has
 * ended. Whatever the broker does, one round trip is under way and so many lanes wait; a wake that has
 * not arrived by its deadline is given back.
 */
export class WakeOutbox {
  readonly #now = new Set<string>();
  readonly #later = new Map<string, number>();
  /** By lane, the earliest wake this process has put into the future. */
  readonly #scheduled = new Map<string, number>();
  /** Lanes that had a job a moment ago: the store is looked at again when it ends. */
  readonly #quiet = new Set<string>();
  readonly #afterwards = new Set<string>();
  readonly #run = randomBytes(6).toString('hex');
  #count = 0;
  #flushing: Promise<void> | undefined;
  /** A round trip that outlived its deadline: no other is begun beside it. */
  #stuck: Promise<unknown> | undefined;

  constructor(private readonly options: WakeOutboxOptions) {}

  add({ lane, at }: Wake): void {
    if (this.#now.size + this.#later.size >= WAITING) return this.#refuse([wakeOf(lane, at)]);
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

  /** A write of no consequence. @throws what the broker says of it */
  async probe(): Promise<void> {
    await this.#send((queue) =>
      queue.add(PROBE, { lane: '' }, { ...REMOVE, deduplication: { id: PROBE } }),
    );
  }

  /** Resolves when nothing waits to be sent. */
  async idle(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  async #flush(): Promise<void> {
    // What is woken in one turn of the event loop travels together.
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
      if (wakes.length >= LANES) return wakes;
      this.#now.delete(lane);
      wakes.push({ lane });
    }
    for (const [lane, at] of this.#later) {
      if (wakes.length >= LANES) return wakes;
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
      else if (put[index]?.id !== jobs[index]?.opts.jobId) this.#hush(lane);
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
      if (this.#scheduled.size <= WAITING) return;
      this.#scheduled.delete(oldest);
    }
  }

  /** A lane at work would be woken for every message: once more after a moment says as much. */
  #hush(lane: string): void {
    if (this.#quiet.size === 0)
      setTimeout(() => {
        this.#quiet.clear();
        for (const again of this.#afterwards) this.add({ lane: again });
        this.#afterwards.clear();
      }, QUIET);
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

/** Nothing that has ended is kept: a kept job would answer for its lane. */
const REMOVE = { removeOnComplete: true, removeOnFail: true, attempts: 1 } as const;

function wakeOf(lane: string, at: number | undefined): Wake {
  return at === undefined ? { lane } : { lane, at };
}
