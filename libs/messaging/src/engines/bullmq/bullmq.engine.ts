import { setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import type { Queue, Worker } from 'bullmq';
import type { Drain } from '../../ports/dispatch-engine.js';
import type { DispatchEngine, EngineHealth } from '../../ports/dispatch-engine.js';
import { DatabaseEngine } from '../database.engine.js';
import { type LaneJob, openQueue, openWorker } from './broker.js';
import { isRefusal, isTimeout, isUnreachable } from './broker-failure.js';
import { BrokerHealth } from './broker-health.js';
import type { BullMqSettings } from './bullmq.options.js';
import { KeptOpen } from './kept-open.js';
import { DRAIN, WAKE, type Wake, WakeOutbox } from './wake-outbox.js';

/** Wait before the retry of a lane whose run failed, in milliseconds. */
const RETRY_DELAY = 1_000;

/** Pause of the worker after the broker refuses a command, in milliseconds. */
const REFUSAL_PAUSE = 1_000;

/** Time limit to close the connections to the broker, in milliseconds. */
const CLOSE_TIMEOUT = 1_000;

/**
 * Distributes lanes over many processes. A lane is a job: the worker that takes the job drains the lane. A wake
 * during the drain adds one more job, which starts after the running one. A wake for later is a delayed job that only
 * adds such a job. A job carries no state: the lane's lease decides which process may drain it, and the store holds
 * the work.
 *
 * Where the broker does not take a wake by its deadline, a process that dispatches runs the lane itself. From a
 * process that does not dispatch, the wake job of another process finds the lane.
 */
export class BullMqEngine implements DispatchEngine {
  readonly #logger = new Logger('BullMQ');
  readonly #queue: KeptOpen<Queue<LaneJob>>;
  readonly #outbox: WakeOutbox;
  /** Runs lanes without the broker. */
  readonly #local = new DatabaseEngine();
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #abort = new AbortController();
  readonly #broker = new BrokerHealth();
  #worker: KeptOpen<Worker<LaneJob>> | undefined;
  #resting: NodeJS.Timeout | undefined;
  #drain: Drain | undefined;
  #stopped: Promise<void> | undefined;

  constructor(private readonly settings: BullMqSettings) {
    // Each running lane adds one listener, so the warning about a listener leak does not apply.
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
    await this.#local.start((lane) => this.#run(lane));
    this.#worker = new KeptOpen(
      () => openWorker(this.settings, (name, job) => this.#work(name, job)),
      (error) => this.#workerFailed(error),
    );
  }

  wake(lane: string, at?: number): void {
    if (this.#abort.signal.aborted) return;
    this.#outbox.add(at === undefined ? { lane } : { lane, at });
    if (this.#drain && this.#broker.failing) this.#local.wake(lane, at);
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
    await Promise.all([this.#local.stop(), ...this.#running.values()]);
    await this.#outbox.idle();
    await this.#worker?.close(CLOSE_TIMEOUT);
    await this.#queue.close(CLOSE_TIMEOUT);
  }

  async #work(name: string, { lane }: LaneJob): Promise<void> {
    this.#broker.lanesPassed();
    if (name === WAKE) this.#outbox.add({ lane });
    if (name !== DRAIN) return;
    const next = await this.#run(lane).catch((error: unknown) => {
      const { name: kind, message } = error as Error;
      this.#logger.error(`Lane ${lane} failed: ${kind}: ${message}`);
      // If the failed run could not release the lane, no other process can take it yet.
      this.#local.wake(lane, Date.now() + RETRY_DELAY);
      return undefined;
    });
    // When this job ends, another process continues the work that this one did not finish.
    if (this.#abort.signal.aborted) this.#outbox.add({ lane });
    else if (next !== undefined) this.wake(lane, next);
    await this.#outbox.idle();
  }

  /** Runs a lane at most once at a time in this process. */
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
    if (isTimeout(error)) this.#queue.reopen();
    if (this.#drain) for (const { lane, at } of wakes) this.#local.wake(lane, at);
  }

  #queueFailed(error: unknown): void {
    if (!this.#abort.signal.aborted) this.#broker.wakesFailed(error);
  }

  #workerFailed(error: unknown): void {
    if (this.#abort.signal.aborted) return;
    if (isTimeout(error)) this.#worker?.reopen();
    else if (isRefusal(error)) this.#rest();
    else if (!isUnreachable(error)) return;
    this.#broker.lanesFailed(error);
  }

  /** Pauses the worker, which would otherwise retry a refused command without a wait. */
  #rest(): void {
    if (this.#resting) return;
    const worker = this.#worker?.current;
    void worker?.pause(true);
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
      if (!this.#abort.signal.aborted) void worker?.resume();
    }, REFUSAL_PAUSE);
  }
}
