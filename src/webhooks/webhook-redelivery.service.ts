import type { Clock } from '@dundun/messaging';
import { ApiError } from '../http/api-error.js';
import type { WebhookDatabase } from './webhook-database.js';
import { ASKED_ANEW } from './webhook-deliveries.repository.js';
import { isWebhookId, type WebhookEndpointsService } from './webhook-endpoints.service.js';

/** What to send again. Neither field: whatever was never delivered. */
export interface Redelivery {
  /** Everything made at or after, delivered or not. */
  readonly since?: Date | undefined;
  /** One delivery, by its `webhook-id`. */
  readonly deliveryId?: string | undefined;
}

const SLICE = 1_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** Ids are made a moment before or after the event's time, on clocks that differ. */
const CLOCKS_DIFFER = 60_000;

interface Found {
  readonly position: string | number;
  readonly id: string;
}

/** Sends callbacks again, under the same `webhook-id` and with a fresh schedule. */
export class WebhookRedeliveryService {
  readonly #rows;
  readonly #makeDue: string;

  constructor(
    private readonly database: WebhookDatabase,
    private readonly endpoints: WebhookEndpointsService,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.#rows = database.dialect.rows({ v_position: 'bigint', v_due: 'bigint' });
    this.#makeDue = database.dialect.updateFrom({
      table: 'gateway_webhook_delivery',
      rows: this.#rows,
      // What was not tried yet keeps its place, and tells the other way of writing so from a try under way.
      set: `attempts = 0, delivered_at = NULL, due_at = CASE gateway_webhook_delivery.due_at
        WHEN 0 THEN ${ASKED_ANEW} WHEN ${ASKED_ANEW} THEN 0 ELSE v_due END`,
      where: 'gateway_webhook_delivery.position = v_position',
    });
  }

  /**
   * Makes deliveries of an endpoint due at once. A disabled endpoint gets them when it is enabled.
   *
   * @returns how many
   * @throws ApiError 404 where the account has no such endpoint, or it no such delivery
   */
  async redeliver(accountId: string, endpointId: string, what: Redelivery = {}): Promise<number> {
    const { id } = await this.endpoints.get(accountId, endpointId);
    if (what.deliveryId === undefined) return this.#redeliverMany(id, what.since);
    const deliveryId = what.deliveryId.toLowerCase();
    const found = isWebhookId(deliveryId)
      ? await this.database.all<Found>(
          'SELECT position, id FROM gateway_webhook_delivery WHERE endpoint_id = ? AND id = ?',
          [id, deliveryId],
        )
      : [];
    if (found.length === 0)
      throw new ApiError('not_found', `This webhook has no delivery ${deliveryId.slice(0, 64)}`);
    await this.#due(found);
    return 1;
  }

  async #redeliverMany(endpointId: string, since: Date | undefined): Promise<number> {
    const from = since?.getTime() ?? 0;
    const condition = since ? 'created_at >= ?' : 'delivered_at IS NULL AND created_at >= ?';
    let after = from > CLOCKS_DIFFER ? idOfTime(from - CLOCKS_DIFFER) : FIRST_ID;
    for (let count = 0; ;) {
      const slice = await this.database.all<Found>(
        `SELECT position, id FROM gateway_webhook_delivery
          WHERE endpoint_id = ? AND id > ? AND ${condition} ORDER BY id LIMIT ${SLICE}`,
        [endpointId, after, from],
      );
      if (slice.length > 0) await this.#due(slice);
      count += slice.length;
      const last = slice.at(-1);
      if (!last || slice.length < SLICE) return count;
      after = last.id;
    }
  }

  async #due(found: readonly Found[]): Promise<void> {
    const positions = found.map(({ position }) => Number(position)).toSorted((a, b) => a - b);
    // Due now and not at once: beside what is new, a quarter of a page at a time.
    const now = this.clock.now();
    await this.database.transaction((sql) =>
      sql.run(this.#makeDue, this.#rows.bind(positions.map((position) => [position, now]))),
    );
  }
}

/** The least UUIDv7 of a millisecond. */
function idOfTime(milliseconds: number): string {
  const hex = Math.trunc(milliseconds).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
