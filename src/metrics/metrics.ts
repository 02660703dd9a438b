import type { Channel } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Values of a gauge by their labels. */
export type Reading = readonly (readonly [Readonly<Record<string, string>>, number])[];

const LAG_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 86_400];

/** Metrics of this process, for Prometheus. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  readonly #acceptedBatches = new Counter({
    name: 'dundun_accepted_batches_total',
    help: 'Batches accepted by this process.',
    labelNames: ['channel'],
    registers: [this.registry],
  });

  readonly #acceptedMessages = new Counter({
    name: 'dundun_accepted_messages_total',
    help: 'Recipients of the batches accepted by this process.',
    labelNames: ['channel'],
    registers: [this.registry],
  });

  readonly dispatched = new Counter({
    name: 'dundun_dispatched_messages_total',
    help: 'Messages whose submit ended in this process, with any outcome.',
    labelNames: ['channel'],
    registers: [this.registry],
  });

  readonly outcomes = new Counter({
    name: 'dundun_outcomes_total',
    help: 'Status changes recorded by this process, by the new status.',
    labelNames: ['channel', 'status'],
    registers: [this.registry],
  });

  readonly reportLag = new Histogram({
    name: 'dundun_report_lag_seconds',
    help: 'Time from the report at the SMSC to its record.',
    labelNames: ['channel'],
    buckets: LAG_BUCKETS,
    registers: [this.registry],
  });

  /** Counts an accepted batch. */
  accepted(channel: Channel, recipients: number): void {
    this.#acceptedBatches.inc({ channel });
    this.#acceptedMessages.inc({ channel }, recipients);
  }

  /**
   * Adds a gauge that reads the database at each scrape. After a failed read the gauge is missing.
   */
  gauge(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => Promise<Reading>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [this.registry],
      async collect() {
        this.reset();
        const reading = await read().catch(() => []);
        for (const [labels, value] of reading) this.set(labels, value);
      },
    });
  }
}
