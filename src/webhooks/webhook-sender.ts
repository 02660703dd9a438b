import { setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import { NaturalBatch } from './natural-batch.js';
import { type LaneTools, WebhookLane } from './webhook-lane.js';

export type SenderTools = Omit<LaneTools, 'abort' | 'retryAt'>;

const MAX_LEASES = 500;

/**
 * Sends what is due: one lane per endpoint, in one process at a time. Lanes are woken by commits of
 * this process, by retries that come due and, for all that nobody was woken for, by a poll.
 */
export class WebhookSender {
  readonly #logger = new Logger(WebhookSender.name);
  readonly #lanes = new Map<string, WebhookLane>();
  /** Lanes at work and leases being asked for. */
  readonly #running = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  readonly #tools: LaneTools;
  readonly #take = new NaturalBatch<string>((ids) => this.#takeLeases(ids), MAX_LEASES);
  readonly #release = new NaturalBatch<string>((ids) => this.tools.leases.release(ids), MAX_LEASES);
  readonly #taking = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  #retry: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined;
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  #stopping = false;

  constructor(private readonly tools: SenderTools) {
    // Every request in flight listens to it; that many are no leak.
    setMaxListeners(0, this.#abort.signal);
    this.#tools = {
      ...tools,
      abort: this.#abort.signal,
      retryAt: (at) => this.#pollAt(at),
    };
  }

  start(): void {
    const { pollInterval, lease } = this.tools.options;
    this.#every(pollInterval, () => this.poll());
    this.#every(lease / 3, () => this.tools.leases.renew());
    void this.poll();
  }

  /** Callbacks of the account were committed. */
  wakeAccount(accountId: string): void {
    const known = this.tools.endpoints.known(accountId);
    if (known) for (const { id } of known) this.wake(id);
    else void this.poll();
  }

  /** Something may be due for the endpoint. */
  wake(endpointId: string): void {
    const lane = this.#lanes.get(endpointId);
    if (lane) lane.wake();
    else if (!this.#stopping && !this.#taking.has(endpointId)) {
      this.#taking.add(endpointId);
      this.#track(this.#take.add(endpointId).catch(this.#failed('webhook leases not taken')));
    }
  }

  /** Looks for everything that is due. Never throws: what fails now is found by the next poll. */
  poll(): Promise<void> {
    this.#pollAgain = true;
    this.#polling ??= this.#pollAll().finally(() => (this.#polling = undefined));
    return this.#polling;
  }

  /** Requests in flight may end for `shutdownTimeout`; what was not sent or not answered stays due. */
  async stop(): Promise<void> {
    const began = this.tools.clock.monotonic();
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#retry?.timer);
    for (const lane of this.#lanes.values()) lane.stop();
    const grace = setTimeout(() => {
      this.#abort.abort(new Error('the gateway stops'));
      this.tools.recorder.stop();
    }, this.tools.options.shutdownTimeout);
    await this.idle();
    clearTimeout(grace);
    this.tools.recorder.stop();
    await this.tools.client.close();
    const ms = Math.round(this.tools.clock.monotonic() - began);
    this.#logger.log({ message: 'webhooks stopped', ms });
  }

  /** Resolves when no endpoint is being worked on. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #pollAll(): Promise<void> {
    const { deliveries, leases, clock } = this.tools;
    try {
      while (this.#pollAgain && !this.#stopping) {
        this.#pollAgain = false;
        for (const id of await deliveries.endpointsDue(clock.now(), leases.owner)) this.wake(id);
      }
    } catch (error) {
      this.#failed('webhook poll failed')(error);
    }
  }

  async #takeLeases(ids: readonly string[]): Promise<void> {
    try {
      const endpoints = this.#stopping ? [] : await this.tools.leases.take(ids);
      for (const endpoint of endpoints) {
        const lane = new WebhookLane(endpoint, this.#tools);
        this.#lanes.set(endpoint.id, lane);
        if (this.#stopping) lane.stop();
        this.#track(this.#run(endpoint.id, lane));
      }
    } finally {
      for (const id of ids) this.#taking.delete(id);
    }
  }

  async #run(endpointId: string, lane: WebhookLane): Promise<void> {
    try {
      await lane.run();
    } catch (error) {
      this.#failed('webhook lane failed')(error);
    }
    await this.#release.add(endpointId).catch(this.#failed('webhook lease not released'));
    this.#lanes.delete(endpointId);
    if (this.#stopping) return;
    // Whoever was told "taken" before the release counts on this look.
    const { deliveries, clock } = this.tools;
    const isDue = deliveries.isDue(endpointId, clock.now());
    if (await isDue.catch(() => false)) this.wake(endpointId);
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  #pollAt(at: number): void {
    if (this.#stopping || (this.#retry && this.#retry.at <= at)) return;
    clearTimeout(this.#retry?.timer);
    const delay = Math.min(Math.max(0, at - this.tools.clock.now()), 2 ** 31 - 1);
    const timer = setTimeout(() => {
      this.#retry = undefined;
      void this.poll();
    }, delay);
    timer.unref();
    this.#retry = { at, timer };
  }

  #every(milliseconds: number, work: () => Promise<void>): void {
    const run = () => void work().catch(this.#failed('webhook leases not renewed'));
    this.#timers.push(setInterval(run, milliseconds).unref());
  }

  #failed(message: string) {
    return (error: unknown): void => this.#logger.warn({ message, err: error });
  }
}
