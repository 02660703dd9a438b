import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingService,
} from '@dundun/messaging';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { Metrics, type Reading } from './metrics.js';

/** Metrics of messages, counted from their events, and of queues, read from the store. */
@Injectable()
export class MessageMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly messaging: MessagingService,
    private readonly events: EventEmitter2,
  ) {}

  onModuleInit(): void {
    this.events.on(MESSAGE_STATUS_CHANGED, (change: MessageStatusChanged) => this.#count(change));
    this.metrics.gauge(
      'dundun_queue_age_seconds',
      'How long the oldest due message of a class has waited.',
      ['class'],
      () => this.#queueAges(),
    );
    this.metrics.gauge(
      'dundun_lanes',
      'Lanes that are paused, by the reason, or have due work.',
      ['state', 'reason'],
      () => this.#lanes(),
    );
  }

  #count({ channel, previous, status, providerTime }: MessageStatusChanged): void {
    this.metrics.outcomes.inc({ channel, status });
    if (previous === 'sending') this.metrics.dispatched.inc({ channel });
    // The first change after `sending` is the submit's outcome; later changes are reports.
    else
      this.metrics.reportLag.observe(
        { channel },
        Math.max(0, Date.now() - providerTime.getTime()) / 1_000,
      );
  }

  async #queueAges(): Promise<Reading> {
    const ages = await this.messaging.queueAges();
    return Object.entries(ages).map(([name, age]) => [{ class: name }, age / 1_000] as const);
  }

  async #lanes(): Promise<Reading> {
    const counts = new Map<string, number>();
    for (const { pauseReason, held } of await this.messaging.lanes()) {
      const key = pauseReason === null ? (held ? 'working' : 'waiting') : `paused ${pauseReason}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return [...counts].map(([key, count]) => {
      const [state = '', reason = ''] = key.split(' ');
      return [{ state, reason }, count] as const;
    });
  }
}
