import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import {
  DeliveryLane,
  type DueWork,
  type LaneTask,
  type LeasedLane,
  type MessagingJob,
  scheduledWait,
  type WorkQueue,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import {
  type ActiveEndpoint,
  type AttemptOutcome,
  type DueDelivery,
  WebhookClient,
} from './webhook-client.js';
import { type HealthChange, WebhookDeliveryStore } from './webhook-delivery.store.js';
import { WebhookHealthLog } from './webhook-health-log.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';

const HOUR = 3_600_000;

/** Deliveries of either kind in one read of a lane. */
const PAGE = 100;

/** One lane per endpoint, woken by commits of this process, due retries and the wake job. */
@Injectable()
export class WebhookSender implements WorkQueue, OnModuleInit {
  readonly name = 'webhook';
  readonly lease: number;
  readonly shutdownTimeout: number;
  readonly jobs: readonly MessagingJob[] = [
    {
      name: 'purge webhooks',
      every: HOUR,
      run: (signal) => this.deliveries.purge(this.clock.now() - this.options.retention, signal),
    },
  ];
  readonly health: WebhookHealthLog;
  #wake: ((key: string) => void) | undefined;

  constructor(
    private readonly queues: WorkQueues,
    readonly deliveries: WebhookDeliveryStore,
    readonly client: WebhookClient,
    @Inject(MESSAGING_CLOCK) readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    @Inject(WEBHOOK_OPTIONS) readonly options: WebhookOptions,
  ) {
    this.health = new WebhookHealthLog(clock);
    this.lease = options.lease;
    this.shutdownTimeout = options.shutdownTimeout;
  }

  onModuleInit(): void {
    this.#wake = this.queues.add(this);
  }

  start(leased: LeasedLane, endpointId: string): LaneTask {
    return new WebhookLane(leased, endpointId, this);
  }

  async due(horizon: number): Promise<readonly DueWork[]> {
    const now = this.clock.now();
    const due = await this.deliveries.firstDue(now + horizon);
    return due.map(({ id, dueAt }) => ({ key: id, dueIn: dueAt - now }));
  }

  wake(endpointId: string): void {
    this.#wake?.(endpointId);
  }
}

/**
 * First attempts for one message run one after another, in order; a failed one waits for its retry
 * while later ones continue.
 */
class WebhookLane extends DeliveryLane {
  readonly #waiting = new Set<DueDelivery>();
  /** Positions that were read and are not yet recorded. */
  readonly #unrecorded = new Set<number>();
  /** Messages with a first attempt in flight. */
  readonly #busy = new Set<string>();
  readonly #unfinished = new Set<Promise<void>>();
  /** `null`: disabled or deleted. */
  #endpoint: ActiveEndpoint | null | undefined;
  /** Monotonic time. */
  #endpointReadAt = -Infinity;
  #failingSince: number | null = null;
  #inFlight = 0;
  /** Wall time of the next retry, as far as the lane has read or recorded it. */
  #nextRetryAt = Infinity;

  constructor(
    leased: LeasedLane,
    private readonly endpointId: string,
    private readonly sender: WebhookSender,
  ) {
    super(leased);
  }

  get underWay(): string {
    return `${this.#inFlight} requests without an answer, ${this.#unfinished.size - this.#inFlight} attempts not recorded`;
  }

  async pump(): Promise<void> {
    const { clock, options } = this.sender;
    while (await this.#mayStart()) {
      this.#start();
      if (this.#wantsMore) continue;
      const isIdle = this.#inFlight + this.#waiting.size === 0;
      // Callbacks come in bursts, also from other processes, so an idle lane is kept for a moment.
      const longest = isIdle ? options.linger : options.staleness;
      const untilRetry = this.#nextRetryAt - clock.now();
      const retryIsNext = untilRetry > 0 && untilRetry < longest;
      if (!(await this.leased.changed.sleep(retryIsNext ? untilRetry : longest))) continue;
      this.more = true;
      if (!isIdle || retryIsNext) continue;
      await this.#read();
      if (this.#waiting.size === 0) return;
    }
  }

  async settle(): Promise<void> {
    while (this.#unfinished.size > 0) await Promise.all(this.#unfinished);
  }

  async nextDueIn(): Promise<number> {
    const { deliveries, clock } = this.sender;
    const [next] = await deliveries.firstDue(Number.MAX_SAFE_INTEGER, this.endpointId);
    return next ? next.dueAt - clock.now() : Infinity;
  }

  get #wantsMore(): boolean {
    const { clock, options } = this.sender;
    const isDue = this.more || this.#nextRetryAt <= clock.now();
    // Reads wait for free slots, so that each one finds as many deliveries as possible.
    return isDue && this.#waiting.size + this.#inFlight < options.concurrency;
  }

  async #mayStart(): Promise<boolean> {
    const { clock, options } = this.sender;
    const goesOn = () => this.#endpoint !== null && this.mayGoOn;
    if (!goesOn()) return false;
    if (clock.monotonic() - this.#endpointReadAt >= options.staleness) await this.#readEndpoint();
    if (this.#wantsMore) await this.#read();
    // The lease may have expired during the queries: then the next holder sends these deliveries.
    return goesOn();
  }

  async #readEndpoint(): Promise<void> {
    this.#endpointReadAt = this.sender.clock.monotonic();
    const current = await this.sender.deliveries.endpoint(this.endpointId);
    // Attempts at a former URL do not concern the current one.
    if (current && current.url !== this.#endpoint?.url) this.#failingSince = current.failingSince;
    this.#endpoint = current;
  }

  async #read(): Promise<void> {
    // A delivery that is recorded while the query runs may still be due in its result.
    const unrecorded = new Set(this.#unrecorded);
    const most = PAGE + unrecorded.size;
    this.more = false;
    this.#nextRetryAt = Infinity;
    const { deliveries, clock } = this.sender;
    const { due, nextRetryAt } = await deliveries.due(this.endpointId, clock.now(), most);
    this.#retryAt(nextRetryAt);
    for (const delivery of due.filter(({ position }) => !unrecorded.has(position))) {
      this.#unrecorded.add(delivery.position);
      this.#waiting.add(delivery);
    }
    if (due.length >= most) this.more = true;
  }

  #start(): void {
    for (const delivery of this.#waiting) {
      if (this.#inFlight >= this.sender.options.concurrency || !this.#endpoint) return;
      if (delivery.attempts === 0 && this.#busy.has(delivery.messageId)) continue;
      this.#waiting.delete(delivery);
      this.#track(this.#attempt(this.#endpoint, delivery));
    }
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) =>
        this.logger.warn({ message: 'webhook attempt not recorded', err: error }),
      )
      .finally(() => this.#unfinished.delete(tracked));
    this.#unfinished.add(tracked);
  }

  async #attempt(endpoint: ActiveEndpoint, delivery: DueDelivery): Promise<void> {
    const isFirst = delivery.attempts === 0;
    this.#inFlight++;
    if (isFirst) this.#busy.add(delivery.messageId);
    try {
      const outcome = await this.sender.client.post(endpoint, delivery, this.signal);
      // Recorded without an await, so that the next request may start meanwhile.
      this.#track(this.#record(endpoint, delivery, outcome));
    } catch {
      // Aborted by the stop: the delivery stays due and is sent again under the same id.
    } finally {
      this.#inFlight--;
      if (isFirst) this.#busy.delete(delivery.messageId);
      this.leased.changed.wake();
    }
  }

  async #record(
    endpoint: ActiveEndpoint,
    delivery: DueDelivery,
    outcome: AttemptOutcome,
  ): Promise<void> {
    const { options } = this.sender;
    const isCurrent = endpoint.url === this.#endpoint?.url;
    const change = isCurrent
      ? healthAfter(this.#failingSince, outcome, options.failingLimit)
      : undefined;
    if (change) this.#failingSince = change.failingSince;
    if (change?.disabled) this.#endpoint = null;
    const wait = scheduledWait(options.schedule, delivery.attempts + 1, outcome.retryAfter);
    const isOver = outcome.error === null || wait === undefined;
    const nextAt = isOver ? null : Math.round(endOf(outcome) + wait);
    const attempt = { endpoint, delivery, outcome, nextAt, change };
    await this.recorded(
      () => this.sender.deliveries.record(attempt),
      'webhook attempt not recorded yet',
    );
    this.#unrecorded.delete(delivery.position);
    this.#retryAt(nextAt);
    if (isCurrent) this.sender.health.attempted(this.logger, endpoint, outcome, change);
  }

  #retryAt(at: number | null): void {
    if (at === null || at >= this.#nextRetryAt) return;
    this.#nextRetryAt = at;
    this.leased.changed.wake();
  }
}

/** When the receiver answered, or the attempt failed without an answer. */
function endOf({ startedAt, duration }: AttemptOutcome): number {
  return startedAt + duration;
}

/** Change by an attempt: the endpoint works again, begins to fail, or has failed for too long. */
export function healthAfter(
  failingSince: number | null,
  outcome: AttemptOutcome,
  failingLimit: number,
): HealthChange | undefined {
  const { error, startedAt } = outcome;
  if (error === null) return failingSince === null ? undefined : { failingSince: null };
  const since = failingSince ?? startedAt;
  const at = endOf(outcome);
  if (error === 'gone') return { failingSince: since, disabled: { at, reason: 'gone' } };
  if (at - since >= failingLimit)
    return { failingSince: since, disabled: { at, reason: 'failing' } };
  return failingSince === null ? { failingSince: since } : undefined;
}
