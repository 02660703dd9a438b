import type { Clock } from '@dundun/messaging';
import { Logger } from '@nestjs/common';
import type { WebhookDatabase } from './webhook-database.js';
import type { WebhookOptions } from './webhook-options.js';

const EVERY = 3_600_000;
const SLICE = 1_000;

/** Deletes deliveries and attempts past their retention, oldest first, in small slices, every hour. */
export class WebhookPurgeJob {
  readonly #logger = new Logger(WebhookPurgeJob.name);
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopping = false;

  constructor(
    private readonly database: WebhookDatabase,
    private readonly clock: Pick<Clock, 'now'>,
    private readonly options: Pick<WebhookOptions, 'retention'>,
  ) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.run()
        .catch((error: unknown) =>
          this.#logger.warn({ message: 'webhooks not purged', err: error }),
        )
        .finally(() => (this.#running = undefined));
    }, EVERY).unref();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  async run(): Promise<void> {
    const before = this.clock.now() - this.options.retention;
    await this.#purge('gateway_webhook_delivery', 'created_at', before);
    await this.#purge('gateway_webhook_attempt', 'started_at', before);
  }

  /** Positions grow with time: the old rows are the first, and no index over time is needed. */
  async #purge(table: string, time: string, before: number): Promise<void> {
    while (!this.#stopping) {
      const gone = await this.database.transaction((sql) =>
        sql.run(
          `DELETE FROM ${table} WHERE position IN (SELECT position FROM
            (SELECT position, ${time} FROM ${table} ORDER BY position LIMIT ${SLICE}) AS oldest
            WHERE ${time} < ?)`,
          [before],
        ),
      );
      if (gone < SLICE) return;
    }
  }
}
