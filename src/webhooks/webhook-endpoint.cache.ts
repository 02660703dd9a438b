import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { type QueueDatabase, type Sql, WorkQueues } from '@dundun/messaging/queue';
import { Inject, Injectable } from '@nestjs/common';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';

/** An enabled endpoint with the fields needed for sending. Times are epoch milliseconds. */
export interface ActiveEndpoint {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly secret: string;
  readonly previousSecret: string | null;
  readonly previousUntil: number | null;
  readonly failingSince: number | null;
}

interface Row {
  readonly id: string;
  readonly account_id: string;
  readonly url: string;
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly previous_until: string | number | null;
  readonly failing_since: string | number | null;
}

interface Entry {
  readonly endpoints: readonly ActiveEndpoint[];
  /** Monotonic time before the query. */
  readonly asked: number;
}

const COLUMNS =
  'e.id, e.account_id, e.url, e.secret, e.previous_secret, e.previous_until, e.failing_since';
const MAX_ENTRIES = 10_000;

/**
 * Caches the enabled endpoints of accounts for at most `staleness`: the status transaction queries
 * an account once in that time, not once per change. Changes by other processes are seen within
 * that time.
 */
@Injectable()
export class WebhookEndpointCache {
  readonly #database: QueueDatabase;
  readonly #staleness: number;
  readonly #entries = new Map<string, Entry>();
  readonly #select: string;
  readonly #accounts;
  /** Incremented by each change in this process: the result of an earlier query is not cached. */
  #generation = 0;

  constructor(
    { database }: WorkQueues,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'monotonic'>,
    @Inject(WEBHOOK_OPTIONS) { staleness }: Pick<WebhookOptions, 'staleness'>,
  ) {
    this.#database = database;
    this.#staleness = staleness;
    this.#accounts = database.dialect.rows({ v_account: 'key' });
    this.#select = `SELECT ${COLUMNS} FROM ${this.#accounts.sql}
      JOIN gateway_webhook_endpoint e ON e.account_id = v_account
      WHERE e.disabled_at IS NULL ORDER BY e.account_id, e.slot`;
  }

  /** @param reader the open transaction, so that no second connection is needed */
  async enabled(
    accounts: ReadonlySet<string>,
    reader: Pick<Sql, 'all'> = this.#database,
  ): Promise<ReadonlyMap<string, readonly ActiveEndpoint[]>> {
    const found = new Map<string, readonly ActiveEndpoint[]>();
    const unknown: string[] = [];
    const now = this.clock.monotonic();
    for (const account of accounts) {
      const entry = this.#entries.get(account);
      if (entry && now - entry.asked < this.#staleness) found.set(account, entry.endpoints);
      else unknown.push(account);
    }
    if (unknown.length > 0)
      for (const [account, endpoints] of await this.#read(unknown, now, reader))
        found.set(account, endpoints);
    return found;
  }

  /**
   * The account's enabled endpoints; the last result of {@link enabled}, however old, is used
   * without a query.
   */
  async known(account: string): Promise<readonly ActiveEndpoint[]> {
    const entry = this.#entries.get(account);
    return entry?.endpoints ?? (await this.enabled(new Set([account]))).get(account) ?? [];
  }

  /** `undefined`: the endpoint is disabled or deleted. */
  async byId(id: string): Promise<ActiveEndpoint | undefined> {
    const [row] = await this.#database.all<Row>(
      `SELECT ${COLUMNS} FROM gateway_webhook_endpoint e WHERE e.id = ? AND e.disabled_at IS NULL`,
      [id],
    );
    return row && endpointOf(row);
  }

  /** The current state of the endpoint; `undefined` if it is disabled or deleted. */
  async current({ accountId, id }: ActiveEndpoint): Promise<ActiveEndpoint | undefined> {
    const found = await this.enabled(new Set([accountId]));
    return found.get(accountId)?.find((endpoint) => endpoint.id === id);
  }

  /** Drops the account's entry after a change by this process. */
  invalidate(account: string): void {
    this.#generation++;
    this.#entries.delete(account);
  }

  async #read(accounts: readonly string[], asked: number, reader: Pick<Sql, 'all'>) {
    const generation = this.#generation;
    const found = new Map<string, ActiveEndpoint[]>(accounts.map((account) => [account, []]));
    const rows = await reader.all<Row>(
      this.#select,
      this.#accounts.bind(accounts.map((account) => [account])),
    );
    for (const row of rows) found.get(row.account_id)?.push(endpointOf(row));
    if (generation === this.#generation) this.#keep(found, asked);
    return found;
  }

  #keep(found: ReadonlyMap<string, readonly ActiveEndpoint[]>, asked: number): void {
    if (this.#entries.size > MAX_ENTRIES)
      for (const [account, entry] of this.#entries)
        if (asked - entry.asked >= this.#staleness) this.#entries.delete(account);
    for (const [account, endpoints] of found)
      if ((this.#entries.get(account)?.asked ?? 0) <= asked)
        this.#entries.set(account, { endpoints, asked });
  }
}

function endpointOf(row: Row): ActiveEndpoint {
  return {
    id: row.id,
    accountId: row.account_id,
    url: row.url,
    secret: row.secret,
    previousSecret: row.previous_secret,
    previousUntil: row.previous_until === null ? null : Number(row.previous_until),
    failingSince: row.failing_since === null ? null : Number(row.failing_since),
  };
}
