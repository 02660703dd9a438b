import type { Clock } from '@dundun/messaging';
import type { Metrics, Reading } from '../metrics/metrics.js';
import type { WebhookDatabase } from './webhook-database.js';

/** How far the callbacks are behind. */
export class WebhookMetrics {
  constructor(
    private readonly database: WebhookDatabase,
    private readonly clock: Pick<Clock, 'now'>,
    metrics: Metrics,
  ) {
    metrics.gauge(
      'dundun_webhook_lag_seconds',
      'How long ago the oldest callback that is due was made, over all enabled endpoints.',
      [],
      () => this.#lag(),
    );
  }

  /** One look into the index per endpoint, however long the backlog. */
  async #lag(): Promise<Reading> {
    const now = this.clock.now();
    const rows = await this.database.all<{ oldest: string | number | null }>(
      `SELECT (SELECT d.created_at FROM gateway_webhook_delivery d
          WHERE d.endpoint_id = e.id AND d.due_at <= ? ORDER BY d.due_at, d.position LIMIT 1) AS oldest
        FROM gateway_webhook_endpoint e WHERE e.disabled_at IS NULL`,
      [now],
    );
    const lags = rows.map(({ oldest }) => (oldest === null ? 0 : now - Number(oldest)));
    return [[{}, Math.max(0, ...lags) / 1_000]];
  }
}
