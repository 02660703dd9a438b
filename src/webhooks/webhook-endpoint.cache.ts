import type { Clock } from '@dundun/messaging';
import type { WebhookDatabase } from './webhook-database.js';

/** An enabled endpoint, with what sending to it needs. */
export interface ActiveEndpoint {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly secret: string;
  readonly previousSecret: string | null;
  /** Epoch milliseconds. */
  readonly previousUntil: number | null;
  readonly failingSince: number | null;
}

export const ACTIVE_ENDPOINT_COLUMNS = `e.id, e.account_id, e.url, e.secret, e.previous_secret,
  e.previous_until, e.failing_since`;

export interface ActiveEndpointRow {
  readonly id: string;
  readonly account_id: string;
  readonly url: string;
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly previous_until: string | number | null;
  readonly failing_since: string | number | null;
}

export function activeEndpoint(row: ActiveEndpointRow): ActiveEndpoint {
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

/** Something that answers SELECTs: a transaction, or the database itself. */
export interface Reader {
  all<T>(sql: string, params?: readonly unknown[]): Promise<T[]>;
}

interface Entry {
  readonly endpoints: readonly ActiveEndpoint[];
  /** Monotonic time before the question was asked. */
  readonly asked: number;
}

const ACCOUNTS = { v_account: 'key' } as const;
const MAX_ENTRIES = 10_000;

/**
 * The enabled endpoints of accounts, at most `staleness` old: the status transaction asks the
 * database about an account once in that time, not once per change, and an endpoint set by another
 * process is known within it.
 */
export class WebhookEndpointCache {
  readonly #entries = new Map<string, Entry>();
  readonly #select: string;
  readonly #accounts;
  /** Grows when something changed here, so that an answer asked for before is not kept. */
  #generation = 0;

  constructor(
    private readonly database: WebhookDatabase,
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly staleness: number,
  ) {
    this.#accounts = database.dialect.rows(ACCOUNTS);
    this.#select = `SELECT ${ACTIVE_ENDPOINT_COLUMNS} FROM ${this.#accounts.sql}
      JOIN gateway_webhook_endpoint e ON e.account_id = v_account
      WHERE e.disabled_at IS NULL ORDER BY e.account_id, e.slot`;
  }

  /** @param reader the transaction at work, so that no other connection is waited for */
  async enabled(
    accounts: ReadonlySet<string>,
    reader: Reader = this.database,
  ): Promise<ReadonlyMap<string, readonly ActiveEndpoint[]>> {
    const found = new Map<string, readonly ActiveEndpoint[]>();
    const unknown: string[] = [];
    const now = this.clock.monotonic();
    for (const account of accounts) {
      const entry = this.#entries.get(account);
      if (entry && now - entry.asked < this.staleness) found.set(account, entry.endpoints);
      else unknown.push(account);
    }
    if (unknown.length > 0)
      for (const [account, endpoints] of await this.#ask(unknown, now, reader))
        found.set(account, endpoints);
    return found;
  }

  /** As {@link enabled} knew them last, however long ago. */
  known(account: string): readonly ActiveEndpoint[] | undefined {
    return this.#entries.get(account)?.endpoints;
  }

  /** The endpoint as it is now; `undefined` once it is disabled or gone. */
  async current(endpoint: ActiveEndpoint): Promise<ActiveEndpoint | undefined> {
    const found = await this.enabled(new Set([endpoint.accountId]));
    return found.get(endpoint.accountId)?.find(({ id }) => id === endpoint.id);
  }

  /** After a change made by this process. */
  invalidate(account: string): void {
    this.#generation++;
    this.#entries.delete(account);
  }

  async #ask(accounts: readonly string[], asked: number, reader: Reader) {
    const generation = this.#generation;
    const found = new Map<string, ActiveEndpoint[]>(accounts.map((account) => [account, []]));
    const rows = await reader.all<ActiveEndpointRow>(
      this.#select,
      this.#accounts.bind(accounts.map((account) => [account])),
    );
    for (const row of rows) found.get(row.account_id)?.push(activeEndpoint(row));
    if (generation === this.#generation) this.#keep(found, asked);
    return found;
  }

  #keep(found: ReadonlyMap<string, readonly ActiveEndpoint[]>, asked: number): void {
    if (this.#entries.size > MAX_ENTRIES)
      for (const [account, entry] of this.#entries)
        if (asked - entry.asked >= this.staleness) this.#entries.delete(account);
    for (const [account, endpoints] of found)
      if ((this.#entries.get(account)?.asked ?? 0) <= asked)
        this.#entries.set(account, { endpoints, asked });
  }
}
