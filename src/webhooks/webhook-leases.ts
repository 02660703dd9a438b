import type { Clock } from '@dundun/messaging';
import {
  ACTIVE_ENDPOINT_COLUMNS,
  type ActiveEndpoint,
  type ActiveEndpointRow,
  activeEndpoint,
} from './webhook-endpoint.cache.js';
import type { WebhookDatabase } from './webhook-database.js';

const IDS = { v_id: 'uuid' } as const;

/**
 * Which endpoints this process sends to. An endpoint has one sender at a time, so that its events go
 * in order and replicas do not send the same twice. Granted on database time; its holder counts from
 * before it asked and trusts two thirds of it. A lease nobody took may be renewed after its time.
 */
export class WebhookLeases {
  readonly owner: string;
  /** Endpoint → monotonic time until which the lease is trusted. */
  readonly #held = new Map<string, number>();
  readonly #ids;
  readonly #take: string;
  readonly #renew: string;
  readonly #release: string;
  readonly #mine: string;

  constructor(
    private readonly database: WebhookDatabase,
    private readonly clock: Pick<Clock, 'id' | 'monotonic'>,
    private readonly duration: number,
  ) {
    const { dialect } = database;
    this.owner = clock.id();
    this.#ids = dialect.rows(IDS);
    const update = (set: string, where: string) =>
      dialect.updateFrom({
        table: 'gateway_webhook_endpoint',
        rows: this.#ids,
        set,
        where: `gateway_webhook_endpoint.id = v_id AND ${where}`,
      });
    // Written into the statements: as parameters they would come in another order on MySQL.
    const until = `lease_until = ${dialect.now} + ${Math.round(duration)}`;
    this.#take = update(
      `lease_owner = '${this.owner}', ${until}`,
      `disabled_at IS NULL AND (lease_owner IS NULL OR lease_owner = '${this.owner}'
        OR lease_until < ${dialect.now})`,
    );
    this.#renew = update(until, `disabled_at IS NULL AND lease_owner = '${this.owner}'`);
    this.#release = update('lease_owner = NULL, lease_until = 0', `lease_owner = '${this.owner}'`);
    this.#mine = `SELECT ${ACTIVE_ENDPOINT_COLUMNS} FROM ${this.#ids.sql}
      JOIN gateway_webhook_endpoint e ON e.id = v_id
      WHERE e.lease_owner = '${this.owner}' AND e.disabled_at IS NULL`;
  }

  /** Resolves with those of the endpoints that are now this process's. */
  async take(ids: readonly string[]): Promise<ActiveEndpoint[]> {
    return this.#claim(this.#take, ids);
  }

  /** Renews what is held; what another process took meanwhile is held no more. */
  async renew(): Promise<void> {
    const ids = [...this.#held.keys()];
    if (ids.length === 0) return;
    const kept = new Set((await this.#claim(this.#renew, ids)).map(({ id }) => id));
    for (const id of ids) if (!kept.has(id)) this.#held.delete(id);
  }

  holds(id: string): boolean {
    return this.clock.monotonic() < (this.#held.get(id) ?? 0);
  }

  async release(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#held.delete(id);
    if (ids.length > 0)
      await this.database.transaction((sql) => sql.run(this.#release, this.#bind(ids)));
  }

  async #claim(statement: string, ids: readonly string[]): Promise<ActiveEndpoint[]> {
    const asked = this.clock.monotonic();
    const rows = await this.database.transaction(async (sql) => {
      await sql.run(statement, this.#bind(ids));
      return sql.all<ActiveEndpointRow>(this.#mine, this.#bind(ids));
    });
    for (const { id } of rows) this.#held.set(id, asked + (this.duration * 2) / 3);
    return rows.map(activeEndpoint);
  }

  /** Sorted, so that replicas lock in one order. */
  #bind(ids: readonly string[]): unknown[] {
    return this.#ids.bind(ids.toSorted().map((id) => [id]));
  }
}
