import type { Clock } from '@dundun/messaging';
import { Logger } from '@nestjs/common';
import { EndpointHealth } from './endpoint-health.js';
import { nextAttemptAt } from './retry-schedule.js';
import { WakeSignal } from './wake-signal.js';
import type { AttemptOutcome, DueDelivery } from './webhook-attempt.js';
import type { WebhookClient } from './webhook-client.js';
import type { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import type { ActiveEndpoint, WebhookEndpointCache } from './webhook-endpoint.cache.js';
import type { WebhookLeases } from './webhook-leases.js';
import type { WebhookOptions } from './webhook-options.js';
import type { WebhookRecorder } from './webhook-recorder.js';
import { originOf } from './webhook-url.js';

/** What every lane works with. */
export interface LaneTools {
  readonly deliveries: WebhookDeliveriesRepository;
  readonly endpoints: WebhookEndpointCache;
  readonly leases: WebhookLeases;
  readonly recorder: WebhookRecorder;
  readonly client: WebhookClient;
  readonly clock: Clock;
  readonly options: WebhookOptions;
  /** Gives up the requests in flight. */
  readonly abort: AbortSignal;
  /** Something of this lane is due again at that time. */
  readonly retryAt: (at: number) => void;
}

/** Looks anew for what other processes wrote or what became due. */
const TICK = 1_000;
/** Deliveries in memory per request that may be in flight. */
const PAGE = 16;

/**
 * Sends one endpoint's deliveries while this process holds its lease.
 *
 * First attempts of one message go one after the other, in order; a failed one waits for its retry
 * while later ones go on. At most `concurrency` requests are in flight; each time-out halves that
 * and each answer adds one, so that a receiver that hangs holds one socket, not sixteen.
 */
export class WebhookLane {
  readonly #logger = new Logger(WebhookLane.name);
  readonly #signal = new WakeSignal();
  readonly #queue: DueDelivery[] = [];
  /** Positions read and not yet recorded. */
  readonly #held = new Set<number>();
  /** Messages with a first attempt in flight. */
  readonly #busy = new Set<string>();
  /** Requests and records under way. */
  readonly #unfinished = new Set<Promise<void>>();
  #health: EndpointHealth;
  #inFlight = 0;
  #limit: number;
  #more = true;
  #over = false;

  constructor(
    private endpoint: ActiveEndpoint,
    private readonly tools: LaneTools,
  ) {
    const { concurrency, failingLimit } = tools.options;
    this.#health = new EndpointHealth(endpoint, failingLimit);
    this.#limit = Math.max(1, Math.floor(concurrency / 4));
  }

  /** Something may be due. */
  wake(): void {
    this.#more = true;
    this.#signal.notify();
  }

  /** Starts nothing more. */
  stop(): void {
    this.#over = true;
    this.#signal.notify();
  }

  /** Resolves when nothing is due, or this process may not go on, and everything started is recorded. */
  async run(): Promise<void> {
    try {
      while (await this.#mayGoOn()) {
        if (this.#more && this.#queue.length < this.#limit) await this.#read();
        // The look may have taken longer than the lease: what another process sends now is not sent before it.
        if (!this.#isHolder()) break;
        this.#start();
        if (this.#inFlight + this.#queue.length > 0) await this.#wait();
        else if (!this.#more && !(await this.#linger())) break;
      }
    } finally {
      while (this.#unfinished.size > 0) await Promise.all(this.#unfinished);
    }
  }

  async #mayGoOn(): Promise<boolean> {
    if (!this.#isHolder()) return false;
    const { endpoints, options } = this.tools;
    const current = await endpoints.current(this.endpoint);
    if (!current || this.#over) return false;
    if (current.url !== this.endpoint.url)
      this.#health = new EndpointHealth(current, options.failingLimit);
    this.endpoint = current;
    return true;
  }

  #isHolder(): boolean {
    return !this.#over && this.tools.leases.holds(this.endpoint.id);
  }

  async #wait(): Promise<void> {
    if (!(await this.#signal.wait(TICK))) this.#more = true;
  }

  /** A moment with the lease in hand, since callbacks come in bursts; then one last look. */
  async #linger(): Promise<boolean> {
    if (await this.#signal.wait(this.tools.options.linger)) return true;
    await this.#read();
    return this.#queue.length > 0;
  }

  async #read(): Promise<void> {
    // Those recorded while the question runs may still look due in its answer.
    const held = new Set(this.#held);
    const page = this.#limit * PAGE;
    const size = {
      first: Math.ceil((page * 3) / 4) + held.size,
      retries: Math.ceil(page / 4) + held.size,
    };
    this.#more = false;
    const due = await this.tools.deliveries.due(this.endpoint.id, this.tools.clock.now(), size);
    const fresh = due.filter(({ position }) => !held.has(position));
    for (const delivery of fresh) {
      this.#held.add(delivery.position);
      this.#queue.push(delivery);
    }
    if (due.length >= Math.min(size.first, size.retries)) this.#more = true;
  }

  #start(): void {
    for (let next = 0; next < this.#queue.length && this.#inFlight < this.#limit;) {
      const delivery = this.#queue[next];
      if (!delivery) return;
      if (delivery.attempts === 0 && this.#busy.has(delivery.messageId)) next++;
      else {
        this.#queue.splice(next, 1);
        this.#finish(this.#attempt(delivery));
      }
    }
  }

  #finish(work: Promise<void>): void {
    const finished: Promise<void> = work
      .catch((error: unknown) =>
        this.#logger.warn({ message: 'webhook attempt not recorded', err: error }),
      )
      .finally(() => this.#unfinished.delete(finished));
    this.#unfinished.add(finished);
  }

  async #attempt(delivery: DueDelivery): Promise<void> {
    const { client, abort } = this.tools;
    const health = this.#health;
    const isFirst = delivery.attempts === 0;
    this.#inFlight++;
    if (isFirst) this.#busy.add(delivery.messageId);
    try {
      const outcome = await client.post(this.endpoint, delivery, abort);
      this.#adapt(outcome);
      // Not awaited here: the next request may start while this one is written down.
      this.#finish(this.#record(delivery, outcome, health));
    } catch {
      // Given up by the stop: it stays due and goes out again under the same id.
    } finally {
      this.#inFlight--;
      if (isFirst) this.#busy.delete(delivery.messageId);
      this.#signal.notify();
    }
  }

  #adapt({ error }: AttemptOutcome): void {
    this.#limit =
      error === 'timeout'
        ? Math.max(1, Math.floor(this.#limit / 2))
        : Math.min(this.tools.options.concurrency, this.#limit + 1);
  }

  async #record(
    delivery: DueDelivery,
    outcome: AttemptOutcome,
    health: EndpointHealth,
  ): Promise<void> {
    const { clock, options, recorder, endpoints } = this.tools;
    const nextAt =
      outcome.error === null
        ? null
        : nextAttemptAt(clock.now(), delivery.attempts + 1, outcome.retryAfter, options);
    // Of the address it has moved away from nothing is news.
    const news = health === this.#health ? health.after(outcome) : undefined;
    if (news?.disabled) this.stop();
    await recorder.record({
      result: { ...outcome, endpointId: this.endpoint.id, delivery, nextAt },
      news,
    });
    this.#held.delete(delivery.position);
    if (nextAt !== null) this.tools.retryAt(nextAt);
    if (!news) return;
    endpoints.invalidate(this.endpoint.accountId);
    const line = { webhook: this.endpoint.id, origin: originOf(this.endpoint.url) };
    if (news.disabled)
      this.#logger.warn({ message: 'webhook disabled', ...line, reason: news.disabled.reason });
    else if (news.failingSince === null)
      this.#logger.log({ message: 'webhook works again', ...line });
    else this.#logger.warn({ message: 'webhook fails', ...line, error: outcome.error });
  }
}
