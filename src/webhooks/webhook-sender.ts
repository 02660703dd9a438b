import { setMaxListeners } from 'node:events';
import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import {
  type DueLane,
  type LaneTask,
  type LaneWaker,
  type LeasedLane,
  type MessagingJob,
  recordAgain,
  scheduledWait,
  type WorkQueue,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { EndpointHealth } from './endpoint-health.js';
import { originOf } from './webhook-address.js';
import { type AttemptOutcome, type DueDelivery, WebhookClient } from './webhook-client.js';
import { type RecordedAttempt, WebhookDeliveryStore } from './webhook-delivery.store.js';
import { type ActiveEndpoint, WebhookEndpointCache } from './webhook-endpoint.cache.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';

const NAME = 'webhook';
const HOUR = 3_600_000;

/** Interval, in ms, in which an active lane polls for deliveries written by other processes. */
const TICK = 1_000;

/** Deliveries in memory per allowed request in flight. */
const PAGE = 16;

/** One lane per endpoint, woken by commits of this process, due retries and the wake job. */
@Injectable()
export class WebhookSender implements WorkQueue, OnModuleInit {
  readonly name = NAME;
  readonly lease: number;
  readonly shutdownTimeout: number;
  readonly jobs: readonly MessagingJob[] = [
    {
      name: 'purge webhooks',
      every: HOUR,
      run: (signal) => this.deliveries.purge(this.clock.now() - this.options.retention, signal),
    },
  ];
  #waker: LaneWaker | undefined;

  constructor(
    private readonly queues: WorkQueues,
    readonly deliveries: WebhookDeliveryStore,
    readonly endpoints: WebhookEndpointCache,
    readonly client: WebhookClient,
    @Inject(MESSAGING_CLOCK) readonly clock: Pick<Clock, 'now'>,
    @Inject(WEBHOOK_OPTIONS) readonly options: WebhookOptions,
  ) {
    this.lease = options.lease;
    this.shutdownTimeout = options.shutdownTimeout;
  }

  onModuleInit(): void {
    this.#waker = this.queues.add(this);
  }

  open(leased: LeasedLane): LaneTask {
    return new WebhookLane(leased, leased.lane.slice(NAME.length + 1), this);
  }

  async due(horizon: number): Promise<readonly DueLane[]> {
    const now = this.clock.now();
    const due = await this.deliveries.firstDue(now + horizon);
    return due.map(({ id, dueAt }) => ({ lane: laneOf(id), dueIn: dueAt - now }));
  }

  wake(endpointId: string): void {
    this.#waker?.wake(laneOf(endpointId));
  }

  async wakeAccount(account: string): Promise<void> {
    const endpoints = await this.endpoints.enabled([account]);
    for (const { id } of endpoints.get(account) ?? []) this.wake(id);
  }
}

function laneOf(endpointId: string): string {
  return `${NAME}:${endpointId}`;
}

/**
 * First attempts for one message run one after another, in order; a failed one waits for its retry
 * while later ones continue. Each time-out halves the limit of requests in flight and each response
 * adds one, so that an unresponsive receiver uses one socket, not sixteen.
 */
class WebhookLane implements LaneTask {
  readonly #logger = new Logger('WebhookLane');
  readonly #abort = new AbortController();
  readonly #queue: DueDelivery[] = [];
  /** Positions that were read and are not yet recorded. */
  readonly #held = new Set<number>();
  /** Messages with a first attempt in flight. */
  readonly #busy = new Set<string>();
  readonly #unfinished = new Set<Promise<void>>();
  #endpoint: ActiveEndpoint | undefined;
  #health: EndpointHealth | undefined;
  #inFlight = 0;
  #limit: number;
  /** The database may have further due deliveries. */
  #more = true;
  #disabled = false;

  constructor(
    private readonly leased: LeasedLane,
    private readonly endpointId: string,
    private readonly sender: WebhookSender,
  ) {
    // Every request in flight adds a listener.
    setMaxListeners(0, this.#abort.signal);
    this.#limit = Math.max(1, Math.floor(sender.options.concurrency / 4));
  }

  get underWay(): string {
    return `${this.#inFlight} requests without an answer, ${this.#unfinished.size - this.#inFlight} attempts not recorded`;
  }

  nudge(): void {
    this.#more = true;
    this.leased.changed.wake();
  }

  async pump(): Promise<void> {
    const { changed } = this.leased;
    while (await this.#mayGoOn()) {
      if (this.#more && this.#queue.length < this.#limit) await this.#read();
      // The lease may have expired during the query: then the next holder sends these deliveries.
      if (!this.leased.valid) return;
      this.#start();
      if (this.#more && this.#queue.length < this.#limit) continue;
      if (this.#inFlight + this.#queue.length > 0)
        this.#more = (await changed.sleep(TICK)) || this.#more;
      else if (!(await this.#linger())) return;
    }
  }

  async settle(): Promise<void> {
    while (this.#unfinished.size > 0) await Promise.all(this.#unfinished);
  }

  abort(): void {
    this.#abort.abort(new Error('the gateway stops'));
  }

  leave(): Promise<{ rateState: null; open: false }> {
    return Promise.resolve({ rateState: null, open: false });
  }

  async nextDueIn(): Promise<number> {
    const { deliveries, clock } = this.sender;
    const [next] = await deliveries.firstDue(Number.MAX_SAFE_INTEGER, this.endpointId);
    return next ? next.dueAt - clock.now() : Infinity;
  }

  async #mayGoOn(): Promise<boolean> {
    const { leased } = this;
    const { endpoints, options } = this.sender;
    const isOver = () => this.#disabled || leased.stopping.aborted || !leased.valid;
    if (isOver()) return false;
    const current = await endpoints.current(this.endpointId, this.#endpoint?.accountId);
    if (!current || isOver()) return false;
    if (current.url !== this.#endpoint?.url)
      this.#health = new EndpointHealth(current, options.failingLimit);
    this.#endpoint = current;
    return true;
  }

  /** Keeps the lane for a moment, since callbacks come in bursts; then polls once more. */
  async #linger(): Promise<boolean> {
    if (!(await this.leased.changed.sleep(this.sender.options.linger))) return true;
    await this.#read();
    return this.#queue.length > 0;
  }

  async #read(): Promise<void> {
    // A delivery that is recorded while the query runs may still be due in its result.
    const held = new Set(this.#held);
    const page = this.#limit * PAGE;
    const size = {
      first: Math.ceil((page * 3) / 4) + held.size,
      retries: Math.ceil(page / 4) + held.size,
    };
    this.#more = false;
    const due = await this.sender.deliveries.due(this.endpointId, this.sender.clock.now(), size);
    for (const delivery of due.filter(({ position }) => !held.has(position))) {
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
        this.#track(this.#attempt(delivery));
      }
    }
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) =>
        this.#logger.warn({ message: 'webhook attempt not recorded', err: error }),
      )
      .finally(() => this.#unfinished.delete(tracked));
    this.#unfinished.add(tracked);
  }

  async #attempt(delivery: DueDelivery): Promise<void> {
    const endpoint = this.#endpoint;
    const health = this.#health;
    if (!endpoint || !health) return;
    const isFirst = delivery.attempts === 0;
    this.#inFlight++;
    if (isFirst) this.#busy.add(delivery.messageId);
    try {
      const outcome = await this.sender.client.post(endpoint, delivery, this.#abort.signal);
      this.#adapt(outcome);
      // Not awaited here: the next request may start while this one is recorded.
      this.#track(this.#record(endpoint, delivery, outcome, health));
    } catch {
      // Aborted by the stop: the delivery stays due and is sent again under the same id.
    } finally {
      this.#inFlight--;
      if (isFirst) this.#busy.delete(delivery.messageId);
      this.leased.changed.wake();
    }
  }

  #adapt({ error }: AttemptOutcome): void {
    this.#limit =
      error === 'timeout'
        ? Math.max(1, Math.floor(this.#limit / 2))
        : Math.min(this.sender.options.concurrency, this.#limit + 1);
  }

  async #record(
    endpoint: ActiveEndpoint,
    delivery: DueDelivery,
    outcome: AttemptOutcome,
    health: EndpointHealth,
  ): Promise<void> {
    // An attempt at a former URL does not concern the current one.
    const change = health === this.#health ? health.after(outcome) : undefined;
    if (change?.disabled) this.#disabled = true;
    const { clock, options } = this.sender;
    const wait = scheduledWait(options.schedule, delivery.attempts + 1, outcome.retryAfter);
    const isOver = outcome.error === null || wait === undefined;
    const nextAt = isOver ? null : Math.round(clock.now() + wait);
    await this.#write({ ...outcome, endpointId: endpoint.id, delivery, nextAt, change });
    this.#held.delete(delivery.position);
    if (!change) return;
    this.sender.endpoints.invalidate(endpoint.accountId);
    const line = { webhook: endpoint.id, origin: originOf(endpoint.url) };
    if (change.disabled)
      this.#logger.warn({ message: 'webhook disabled', ...line, reason: change.disabled.reason });
    else if (change.failingSince === null)
      this.#logger.log({ message: 'webhook works again', ...line });
    else this.#logger.warn({ message: 'webhook fails', ...line, error: outcome.error });
  }

  async #write(attempt: RecordedAttempt): Promise<void> {
    const { deliveries } = this.sender;
    // Only the receiver controls this field's content, so a retry omits it.
    const withoutResponse = { ...attempt, response: null };
    const failure: unknown = await deliveries.record(attempt).catch((error: unknown) =>
      recordAgain(
        () => deliveries.record(withoutResponse),
        error,
        this.leased.stopping,
        (cause) => this.#logger.warn({ message: 'webhook attempt not recorded yet', err: cause }),
      ),
    );
    if (failure !== undefined) throw failure as Error;
  }
}
