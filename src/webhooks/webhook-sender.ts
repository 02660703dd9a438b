import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import {
  type DueLane,
  type LaneTask,
  type LaneWaker,
  type LeasedLane,
  type MessagingJob,
  type WorkQueue,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { WebhookClient } from './webhook-client.js';
import { WebhookDeliveryStore } from './webhook-delivery.store.js';
import { WebhookEndpointCache } from './webhook-endpoint.cache.js';
import { type LaneTools, WebhookLane } from './webhook-lane.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';

const NAME = 'webhook';
const HOUR = 3_600_000;

/**
 * The queue of callbacks: one lane per endpoint, on the library's leases. Commits of this process,
 * due retries and the queue's wake job wake a lane.
 */
@Injectable()
export class WebhookSender implements WorkQueue, LaneTools, OnModuleInit {
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

  /** Wakes the lane of an endpoint that may have due deliveries. */
  wake(endpointId: string): void {
    this.#waker?.wake(laneOf(endpointId));
  }

  /** Wakes the lanes of an account after callbacks were committed. */
  async wakeAccount(account: string): Promise<void> {
    const endpoints = await this.endpoints.enabled([account]);
    for (const { id } of endpoints.get(account) ?? []) this.wake(id);
  }
}

function laneOf(endpointId: string): string {
  return `${NAME}:${endpointId}`;
}
