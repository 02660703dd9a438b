import type { Clock, MessageStatusChanged, StatusListener } from '@dundun/messaging';
import type { EntityManager } from 'typeorm';
import type { WebhookDatabase } from './webhook-database.js';
import type { WebhookEndpointCache } from './webhook-endpoint.cache.js';
import { callsBack, statusEventBody } from './webhook-event.js';

const DELIVERY = {
  v_id: 'uuid',
  v_endpoint: 'uuid',
  v_message: 'key',
  v_sequence: 'int',
  v_payload: 'text',
  v_created: 'bigint',
} as const;

/** Rows in one statement: its parameters stay far below what servers take in one packet. */
const MAX_ROWS = 2_000;

/**
 * Writes the callbacks of status changes in the transaction that makes them: a status and its
 * callback are committed together or not at all.
 */
export class WebhookOutboxListener implements StatusListener {
  readonly #rows;
  readonly #insert: string;

  constructor(
    private readonly database: WebhookDatabase,
    private readonly endpoints: WebhookEndpointCache,
    private readonly clock: Clock,
  ) {
    this.#rows = database.dialect.rows(DELIVERY);
    this.#insert = `INSERT INTO gateway_webhook_delivery
        (id, endpoint_id, message_id, sequence, payload, created_at, attempts, due_at)
      SELECT v_id, v_endpoint, v_message, v_sequence, v_payload, v_created, 0, 0
      FROM ${this.#rows.sql}`;
  }

  async onStatusChanged(
    changes: readonly MessageStatusChanged[],
    manager: EntityManager,
  ): Promise<void> {
    const reported = changes.filter(callsBack);
    if (reported.length === 0) return;
    const sql = this.database.on(manager);
    const accounts = new Set(reported.map(({ tenant }) => tenant));
    const endpoints = await this.endpoints.enabled(accounts, sql);
    const now = this.clock.now();
    const rows: unknown[][] = [];
    for (const change of reported) {
      const receivers = endpoints.get(change.tenant) ?? [];
      if (receivers.length === 0) continue;
      const body = statusEventBody(change, now);
      for (const { id } of receivers)
        rows.push([this.clock.id(), id, change.messageId, change.sequence, body, now]);
    }
    for (let from = 0; from < rows.length; from += MAX_ROWS)
      await sql.run(this.#insert, this.#rows.bind(rows.slice(from, from + MAX_ROWS)));
  }
}
