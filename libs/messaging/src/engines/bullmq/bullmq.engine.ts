import { Logger } from '@nestjs/common';
import type { Queue, Worker } from 'bullmq';
import type { Drain } from '../../ports/dispatch-engine.js';
import type { EngineHealth, ObservedEngine } from '../../ports/engine-health.js';
import { DatabaseEngine } from '../database.engine.js';
import { type LaneJob, openQueue, openWorker } from './broker.js';
import { isSilence, reasonOf } from './broker-failure.js';
import type { BullMqSettings } from './bullmq.options.js';
import { KeptOpen } from './kept-open.js';
import { DRAIN, WAKE, type Wake, WakeOutbox } from './wake-outbox.js';

/** Milliseconds before a lane whose run failed is tried again. */
const AFTER_FAILURE = 1_000;

/** Milliseconds a broker's refusals stop this worker from asking again. */
const REST = 1_000;

/** Milliseconds the last word of the broker is good for. */
const FRESH = 5_000;

/** Milliseconds the broker has to say goodbye. */
const GOODBYE = 1_000;

/**
 * Lanes over many processes. A lane is a job: whichever worker takes it drains it, and a wake that
 * comes meanwhile makes one more job, which begins when this one ends. A wake for later is a delayed
 * job of its own that merely wakes. The job decides nothing: the lane's lease says who may drain it,
 * the ledger what there is to do.
 *
 * What the broker does not take by its deadline is run by this process itself if it drains at all;
 * otherwise the wake job of one that does finds it.
 */
export class BullMqEngine implements ObservedEngine {
  readonly #logger = new Logger('BullMQ');
  readonly #queue: KeptOpen<Queue<LaneJob>>;
  readonly #outbox: WakeOutbox;
  /** Runs lanes without the broker. */
  readonly #here = new DatabaseEngine();
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #abort = new AbortController();
  #worker: KeptOpen<Worker<LaneJob>> | undefined;
  #resting: NodeJS.Timeout | undefined;
  #drain: Drain | undefined;
  #reason: string | null = null;
  #heardAt = -Infinity;
  #stopped: Promise<void> | undefined;

  constructor(private readonly settings: BullMqSettings) {
    this.#queue = new KeptOpen(
      () => openQueue(settings),
      (error) => this.#degrade(error),
    );
    this.#outbox = new WakeOutbox({
      deadline: settings.deadline,
      queue: () => Promise.resolve(this.#queue.current),
      onSent: () => this.#recover(),
      onUnsent: (wakes, error) => this.#unsent(wakes, error),
    });
  }

  async start(drain: Drain): Promise<void> {
    this.#drain = drain;
    await this.#here.start((lane) => this.#run(lane));
    this.#worker = new KeptOpen(
      () => openWorker(this.settings, (name, job) => this.#work(name, job)),
      (error) => this.#workerFailed(error),
    );
  }

  wake(lane: string, at?: number): void {
    if (this.#abort.signal.aborted) return;
    this.#outbox.add(at === undefined ? { lane } : { lane, at });
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async health(): Promise<EngineHealth> {
    if (performance.now() - this.#heardAt > FRESH)
      await this.#outbox.probe().then(
        () => this.#recover(),
        (error: unknown) => this.#degrade(error),
      );
    const reason = this.#reason;
    return { state: reason === null ? 'up' : 'degraded', reason };
  }

  async #stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#resting);
    await Promise.all([this.#here.stop(), ...this.#running.values()]);
    await this.#outbox.idle();
    await this.#worker?.close(GOODBYE);
    await this.#queue.close(GOODBYE);
  }

  async #work(name: string, { lane }: LaneJob): Promise<void> {
    if (name === WAKE) this.#outbox.add({ lane });
    if (name !== DRAIN) return;
    const next = await this.#run(lane).catch((error: unknown) => {
      const { name: kind, message } = error as Error;
      this.#logger.error(`Lane ${lane} failed: ${kind}: ${message}`);
      return Date.now() + AFTER_FAILURE;
    });
    // What this process did not finish, another takes up when its job ends.
    if (this.#abort.signal.aborted) this.#outbox.add({ lane });
    else if (next !== undefined) this.wake(lane, next);
    await this.#outbox.idle();
  }

  /** Never one lane beside itself. */
  async #run(lane: string): Promise<number | undefined> {
    while (this.#running.has(lane)) await this.#running.get(lane);
    const { signal } = this.#abort;
    if (signal.aborted) return undefined;
    const run = (this.#drain as Drain)(lane, signal);
    this.#running.set(
      lane,
      run.catch(() => undefined),
    );
    try {
      return await run;
    } finally {
      this.#running.delete(lane);
    }
  }

  #unsent(wakes: readonly Wake[], error: unknown): void {
    this.#degrade(error);
    if (isSilence(error)) this.#queue.reopen();
    if (this.#drain) for (const { lane, at } of wakes) this.#here.wake(lane, at);
  }

  #workerFailed(error: unknown): void {
    if (isSilence(error)) {
      this.#degrade(error);
      this.#worker?.reopen();
    } else if (error instanceof Error && error.name === 'ReplyError') this.#rest(error);
  }

  /** A worker would ask a broker that refuses again at once, and again. */
  #rest(error: Error): void {
    this.#degrade(error);
    if (this.#resting) return;
    const worker = this.#worker?.current;
    void worker?.pause(true);
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
      if (!this.#abort.signal.aborted) void worker?.resume();
    }, REST);
  }

  #degrade(error: unknown): void {
    const reason = reasonOf(error);
    if (reason === this.#reason || this.#abort.signal.aborted) return;
    this.#reason = reason;
    this.#heardAt = -Infinity;
    this.#logger.warn(`Wakes do not travel, messages are found in the ledger: ${reason}`);
  }

  #recover(): void {
    this.#heardAt = performance.now();
    if (this.#reason !== null) this.#logger.log('Wakes travel again');
    this.#reason = null;
  }
}
