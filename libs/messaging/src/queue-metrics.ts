import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  type MessagingEvents,
} from './message/events.js';
import { MessagingService } from './messaging.service.js';
import { MessagingOperations } from './operations/operations.service.js';
import type { EventPublisher } from './ports/listeners.js';
import { MESSAGING_METRICS, type MessagingMetrics, type QueueReading } from './ports/metrics.js';

/** Reads the queues for the metrics, as long as the app runs. */
@Injectable()
export class QueueMetrics implements OnApplicationBootstrap, OnApplicationShutdown {
  #stop: (() => void) | undefined;

  constructor(
    @Inject(MessagingService) private readonly messaging: MessagingService,
    @Inject(MessagingOperations) private readonly operations: MessagingOperations,
    @Inject(MESSAGING_METRICS) private readonly metrics: MessagingMetrics | undefined,
  ) {}

  onApplicationBootstrap(): void {
    this.#stop = this.metrics?.observe(() => this.#read());
  }

  onApplicationShutdown(): void {
    this.#stop?.();
  }

  async #read(): Promise<QueueReading> {
    const [ages, lanes, unmatched] = await Promise.all([
      this.messaging.queueAges(),
      this.messaging.lanes(),
      this.operations.unmatchedCounts(),
    ]);
    return {
      unmatched,
      passed: this.messaging.passedMessages(),
      ages: new Map(Object.entries(ages).map(([priority, age]) => [priority, age / 1_000])),
      lanes: lanes.map(({ hold, pauseReason, leased }) => {
        if (hold) return { state: 'held', reason: hold.reason };
        if (pauseReason !== null) return { state: 'paused', reason: pauseReason };
        return { state: leased ? 'working' : 'waiting', reason: '' };
      }),
    };
  }
}

/** Publishes events, and measures each change of a status. */
export class MeasuredEvents implements EventPublisher {
  constructor(
    private readonly events: EventPublisher,
    private readonly metrics: MessagingMetrics,
  ) {}

  wants(event: keyof MessagingEvents): boolean {
    return event === MESSAGE_STATUS_CHANGED || this.events.wants(event);
  }

  publish<E extends keyof MessagingEvents>(event: E, payload: MessagingEvents[E]): void {
    if (event === MESSAGE_STATUS_CHANGED) this.metrics.changed(payload as MessageStatusChanged);
    if (this.events.wants(event)) this.events.publish(event, payload);
  }
}
