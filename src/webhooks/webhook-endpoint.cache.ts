import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { type QueueDatabase, type Sql, WorkQueues } from '@dundun/messaging/queue';
import { Inject, Injectable } from '@nestjs/common';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';
import { numberOf, type WebhookEndpointEntity } from './webhooks.tables.js';

export type ActiveEndpoint = Readonly<
  Pick<
    WebhookEndpointEntity,
    'id' | 'accountId' | 'url' | 'secret' | 'previousSecrets' | 'previousUntil' | 'failingSince'
  >
>;

interface Entry {
  readonly endpoints: readonly ActiveEndpoint[];
  /** Monotonic time before the query. */
  readonly asked: number;
}

const MAX_ENTRIES = 10_000;

/**
 * Caches enabled endpoints for at most `staleness`, so the status transaction queries an account
 * once in that time, not once per change. Changes by other processes are seen within that time.
 */
@Injectable()
export class WebhookEndpointCache {
  readonly #database: QueueDatabase;
  readonly #entries = new Map<string, Entry>();
  readonly #accounts;
  /** Incremented by each change in this process: the result of an earlier query is not cached. */
  #generation = 0;

  constructor(
    { database }: WorkQueues,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'monotonic'>,
    @Inject(WEBHOOK_OPTIONS) private readonly options: Pick<WebhookOptions, 'staleness'>,
  ) {
    this.#database = database;
    this.#accounts = database.dialect.rows({ v_account: 'key' });
  }

  /** @param reader the open transaction, so that no second connection is needed */
  async enabled(
    accounts: Iterable<string>,
    reader: Pick<Sql, 'all'> = this.#database,
  ): Promise<ReadonlyMap<string, readonly ActiveEndpoint[]>> {
    const found = new Map<string, readonly ActiveEndpoint[]>();
    const read = new Map<string, ActiveEndpoint[]>();
    const now = this.clock.monotonic();
    for (const account of accounts) {
      const entry = this.#entries.get(account);
      if (entry && now - entry.asked < this.options.staleness) found.set(account, entry.endpoints);
      else read.set(account, []);
    }
    if (read.size === 0) return found;
    const generation = this.#generation;
    for (const endpoint of await this.#read([...read.keys()], reader))
      read.get(endpoint.accountId)?.push(endpoint);
    if (this.#entries.size > MAX_ENTRIES) this.#entries.clear();
    for (const [account, endpoints] of read) {
      found.set(account, endpoints);
      if (generation === this.#generation) this.#entries.set(account, { endpoints, asked: now });
    }
    return found;
  }

  /** The endpoint; `undefined` if it is disabled or deleted. */
  async current(id: string, account?: string): Promise<ActiveEndpoint | undefined> {
    const accountId = account ?? (await this.#accountOf(id));
    if (accountId === undefined) return undefined;
    const found = await this.enabled([accountId]);
    return found.get(accountId)?.find((endpoint) => endpoint.id === id);
  }

  invalidate(account: string): void {
    this.#generation++;
    this.#entries.delete(account);
  }

  async #read(
    accounts: readonly string[],
    reader: Pick<Sql, 'all'>,
  ): Promise<readonly ActiveEndpoint[]> {
    const rows = await reader.all<ActiveEndpoint>(
      `SELECT e.id, e.account_id AS "accountId", e.url, e.secret,
          e.previous_secrets AS "previousSecrets", e.previous_until AS "previousUntil",
          e.failing_since AS "failingSince"
        FROM ${this.#accounts.sql} JOIN gateway_webhook_endpoint e ON e.account_id = v_account
        WHERE e.disabled_at IS NULL ORDER BY e.account_id, e.slot`,
      this.#accounts.bind(accounts.map((account) => [account])),
    );
    return rows.map((row) => ({
      ...row,
      previousUntil: numberOf(row.previousUntil),
      failingSince: numberOf(row.failingSince),
    }));
  }

  async #accountOf(id: string): Promise<string | undefined> {
    const [row] = await this.#database.all<{ readonly account: string }>(
      'SELECT account_id AS account FROM gateway_webhook_endpoint WHERE id = ?',
      [id],
    );
    return row?.account;
  }
}
