import { Logger } from '@nestjs/common';
import type { EndpointNews } from './endpoint-health.js';
import { NaturalBatch } from './natural-batch.js';
import { WakeSignal } from './wake-signal.js';
import type { AttemptResult } from './webhook-attempt.js';
import type { Sql, WebhookDatabase } from './webhook-database.js';
import type { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';

export interface Recordable {
  readonly result: AttemptResult;
  /** Only where something changed. */
  readonly news: EndpointNews | undefined;
}

const MAX_RESULTS = 500;
const FIRST_RETRY = 250;
const LAST_RETRY = 10_000;

/**
 * Records attempts of all endpoints, many to a transaction. What was sent is a fact: while the
 * database is away it is tried again until it is written or the process stops.
 */
export class WebhookRecorder {
  readonly #logger = new Logger(WebhookRecorder.name);
  readonly #batch = new NaturalBatch<Recordable>((group) => this.#persist(group), MAX_RESULTS);
  readonly #stop = new WakeSignal();
  #stopping = false;

  constructor(
    private readonly database: WebhookDatabase,
    private readonly deliveries: WebhookDeliveriesRepository,
  ) {}

  /** Resolves once it is committed; rejects where the process stops before. */
  record(recordable: Recordable): Promise<void> {
    return this.#batch.add(recordable);
  }

  /** Waits for the database no longer. */
  stop(): void {
    this.#stopping = true;
    this.#stop.notify();
  }

  async #persist(group: readonly Recordable[]): Promise<void> {
    let results = group.map(({ result }) => result);
    for (let wait = FIRST_RETRY; ; wait = Math.min(wait * 2, LAST_RETRY))
      try {
        return await this.#write(results, newsOf(group));
      } catch (error) {
        if (this.#stopping) throw error;
        this.#logger.warn({
          message: 'attempts not recorded yet',
          count: group.length,
          err: error,
        });
        // The one field strangers write goes, should it be the reason.
        results = results.map((result) => ({ ...result, response: null }));
        await this.#stop.wait(wait);
      }
  }

  #write(results: readonly AttemptResult[], news: readonly EndpointNews[]): Promise<void> {
    return this.database.transaction(async (sql) => {
      await this.deliveries.record(sql, results);
      for (const item of news) await writeNews(sql, item);
    });
  }
}

/** One piece of news per endpoint and address, the last, in the order in which rows are locked everywhere. */
function newsOf(group: readonly Recordable[]): EndpointNews[] {
  const news = new Map<string, EndpointNews>();
  for (const { news: item } of group) {
    const key = `${item?.id} ${item?.url}`;
    if (item) news.set(key, { ...news.get(key), ...item });
  }
  return [...news.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

async function writeNews(
  sql: Sql,
  { id, url, failingSince, disabled }: EndpointNews,
): Promise<void> {
  await sql.run('UPDATE gateway_webhook_endpoint SET failing_since = ? WHERE id = ? AND url = ?', [
    failingSince,
    id,
    url,
  ]);
  if (disabled)
    await sql.run(
      `UPDATE gateway_webhook_endpoint SET disabled_at = ?, disabled_reason = ?
        WHERE id = ? AND url = ? AND disabled_at IS NULL`,
      [disabled.at, disabled.reason, id, url],
    );
}
