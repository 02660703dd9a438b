import { setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import type { Queue, Worker } from 'bullmq';
import type { Drain } from '../../ports/dispatch-engine.js';
import type { EngineHealth, ObservedEngine } from '../../ports/engine-health.js';
import { DatabaseEngine } from '../database.engine.js';
import { type LaneJob, openQueue, openWorker } from './broker.js';
import { isRefusal, isSilence, isUnreachable } from './broker-failure.js';
import { BrokerHealth } from './broker-health.js';
import type { BullMqSettings } from './bullmq.options.js';
import { KeptOpen } from './kept-open.js';
import { DRAIN, WAKE, type Wake, WakeOutbox } from './wake-outbox.js';

/** Milliseconds before a lane whose run failed is tried again. */
const AFTER_FAILURE = 1_000;

/** Milliseconds a broker's refusals stop this worker from asking again. */
const REST = 1_000;

/** Milliseconds the broker has to say goodbye. */
const GOODBYE = 1_000;

/**
 * Lanes over many processes. A lane is a job: whichever worker takes it drains it, and a wake that
 * comes meanwhile makes one more job, which begins when this one ends. A wake for later is a delayed
 * job of its own that merely wakes. The job decides nothing: the lane's lease says who may drain it,
 * the store what there is to do.
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
  readonly #broker = new BrokerHealth();
  #worker: KeptOpen<Worker<LaneJob>> | undefined;
  #resting: NodeJS.Timeout | undefined;
  #drain: Drain | undefined;
  #stopped: Promise<void> | undefined;

  constructor(private readonly settings: BullMqSettings) {
    // Every lane at work listens to it; that many are no leak.
    setMaxListeners(0, this.#abort.signal);
    this.#queue = new KeptOpen(
      () => openQueue(settings),
      (error) => this.#queueFailed(error),
    );
    this.#outbox = new WakeOutbox({
      deadline: settings.deadline,
      queue: () => Promise.resolve(this.#queue.current),
      onSent: () => this.#broker.wakesPassed(),
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
    if (this.#drain && this.#broker.ailing) this.#here.wake(lane, at);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async health(): Promise<EngineHealth> {
    if (!this.#broker.fresh)
      await this.#outbox.probe().then(
        () => this.#broker.wakesPassed(),
        (error: unknown) => this.#broker.wakesFailed(error),
      );
    return this.#broker.health;
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
    this.#broker.lanesPassed();
    if (name === WAKE) this.#outbox.add({ lane });
    if (name !== DRAIN) return;
    const next = await this.#run(lane).catch((error: unknown) => {
      const { name: kind, message } = error as Error;
      this.#logger.error(`Lane ${lane} failed: ${kind}: ${message}`);
      // Where it could not give the lane back, nobody else can take it yet.
      this.#here.wake(lane, Date.now() + AFTER_FAILURE);
      return undefined;
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
    this.#queueFailed(error);
    if (isSilence(error)) this.#queue.reopen();
    if (this.#drain) for (const { lane, at } of wakes) this.#here.wake(lane, at);
  }

  #queueFailed(error: unknown): void {
    if (!this.#abort.signal.aborted) this.#broker.wakesFailed(error);
  }

  #workerFailed(error: unknown): void {
    if (this.#abort.signal.aborted) return;
    if (isSilence(error)) this.#worker?.reopen();
    else if (isRefusal(error)) this.#rest();
    else if (!isUnreachable(error)) return;
    this.#broker.lanesFailed(error);
  }

  /** A worker would ask a broker that refuses again at once, and again. */
  #rest(): void {
    if (this.#resting) return;
    const worker = this.#worker?.current;
    void worker?.pause(true);
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
      if (!this.#abort.signal.aborted) void worker?.resume();
    }, REST);
  }
}
