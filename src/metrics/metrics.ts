import {
  type Channel,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingService,
  NOTIFICATION_FELL_BACK,
  type NotificationFellBack,
} from '@dundun/messaging';
import { MessagingOperations } from '@dundun/messaging/operations';
import { Global, Injectable, Module } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule } from '@nestjs/event-emitter';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Values of a gauge and their labels; those with the same labels are added up. */
type Reading = readonly (readonly [Readonly<Record<string, string>>, number])[];

const LAG_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 86_400];

/** Metrics of this process: messages are counted from their events, queues read from the store. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  readonly #acceptedBatches = this.#counter(
    'dundun_accepted_batches_total',
    'Batches accepted by this process.',
  );

  readonly #acceptedMessages = this.#counter(
    'dundun_accepted_messages_total',
    'Recipients of the batches accepted by this process.',
  );

  readonly #dispatched = this.#counter(
    'dundun_dispatched_messages_total',
    'Messages whose submit ended in this process, with any outcome.',
  );

  readonly #outcomes = this.#counter(
    'dundun_outcomes_total',
    'Status changes recorded by this process, by the new status.',
    'status',
  );

  readonly #bounces = this.#counter(
    'dundun_bounces_total',
    'Bounces recorded by this process, by category; `unread`: the report could not be read.',
    'category',
  );

  readonly #reportLag = new Histogram({
    name: 'dundun_report_lag_seconds',
    help: 'Time from the report at the provider to its record.',
    labelNames: ['channel'],
    buckets: LAG_BUCKETS,
    registers: [this.registry],
  });

  constructor(messaging: MessagingService, operations: MessagingOperations, events: EventEmitter2) {
    this.gauge(
      'dundun_unmatched_reports',
      'Reports of the carrier that name no message.',
      ['provider'],
      async () =>
        [...(await operations.unmatchedCounts())].map(([provider, n]) => [{ provider }, n]),
    );
    const passed = new Counter({
      name: 'dundun_messages_passed_total',
      help: 'Messages that left this process after later ones of their lane and carrier, by the reason.',
      labelNames: ['provider', 'reason'],
      registers: [this.registry],
      collect: () => {
        passed.reset();
        for (const { provider, reason, messages: n } of messaging.passedMessages())
          passed.inc({ provider, reason }, n);
      },
    });
    events.on(NOTIFICATION_FELL_BACK, ({ to }: NotificationFellBack) => this.accepted(to, 1));
    events.on(MESSAGE_STATUS_CHANGED, (change: MessageStatusChanged) => this.#count(change));
    this.gauge(
      'dundun_queue_age_seconds',
      'How long the oldest due message of a class has waited, without held lanes.',
      ['class'],
      async () => {
        const ages = Object.entries(await messaging.queueAges());
        return ages.map(([name, age]) => [{ class: name }, age / 1_000]);
      },
    );
    this.gauge(
      'dundun_lanes',
      'Lanes that are held or paused, by the reason, or have due work.',
      ['state', 'reason'],
      async () => {
        const lanes = await messaging.lanes();
        return lanes.map(({ hold, pauseReason, leased }) => {
          if (hold) return [{ state: 'held', reason: hold.reason }, 1];
          const working = leased ? 'working' : 'waiting';
          const state = pauseReason === null ? working : 'paused';
          return [{ state, reason: pauseReason ?? '' }, 1];
        });
      },
    );
  }

  accepted(channel: Channel, recipients: number): void {
    this.#acceptedBatches.inc({ channel });
    this.#acceptedMessages.inc({ channel }, recipients);
  }

  /** Reads the database at each scrape. After a failed read the gauge is missing. */
  gauge(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => Promise<Reading>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      async collect() {
        const reading = await read().catch(() => []);
        this.reset();
        for (const [labels, value] of reading) this.inc(labels, value);
      },
    });
  }

  #count(change: MessageStatusChanged): void {
    const { channel, previous, status, event, providerTime, errorCode, details } = change;
    if (status === 'bounced' && event === undefined) {
      const category =
        errorCode === 'unread_bounce' ? 'unread' : (details?.['category'] ?? 'other');
      this.#bounces.inc({ channel, category });
    }
    this.#outcomes.inc({ channel, status });
    // The first change after `sending` is the submit's outcome; later ones but cancels are reports.
    if (previous === 'sending') this.#dispatched.inc({ channel });
    else if (status !== 'cancelled') {
      const lag = Math.max(0, Date.now() - providerTime.getTime());
      this.#reportLag.observe({ channel }, lag / 1_000);
    }
  }

  #counter(name: string, help: string, ...labels: readonly string[]): Counter {
    const labelNames = ['channel', ...labels];
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }
}

@Global()
@Module({ imports: [EventEmitterModule.forRoot()], providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
