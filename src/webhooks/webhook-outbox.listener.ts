import type {
  Clock,
  InboundListener,
  InboundReceived,
  MessageStatusChanged,
  StatusListener,
} from '@dundun/messaging';
import type { EntityManager } from 'typeorm';
import type { WebhookDatabase } from './webhook-database.js';
import type { WebhookEndpointCache } from './webhook-endpoint.cache.js';
import {
  callsBack,
  inboundCallsBack,
  receivedEventBody,
  statusEventBody,
} from './webhook-event.js';

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

/** As wide as its column. */
const LONGEST_MESSAGE_ID = 64;

/** What is to be called back, whatever it tells of. */
interface OutboxEvent {
  readonly account: string;
  readonly message: string;
  readonly sequence: number;
  body(now: number): string;
}

/**
 * Writes callbacks in the transaction that makes what they tell of, a status or an inbound message:
 * both are committed or neither.
 */
export class WebhookOutboxListener implements StatusListener, InboundListener {
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

  onStatusChanged(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void> {
    return this.#write(
      changes.filter(callsBack).map((change) => ({
        account: change.tenant,
        message: change.messageId,
        sequence: change.sequence,
        body: (now) => statusEventBody(change, now),
      })),
      manager,
    );
  }

  onInbound(received: readonly InboundReceived[], manager: EntityManager): Promise<void> {
    return this.#write(
      received.filter(inboundCallsBack).map((one) => ({
        account: one.tenant,
        message: one.messageId.slice(0, LONGEST_MESSAGE_ID),
        sequence: 1,
        body: (now) => receivedEventBody(one, now),
      })),
      manager,
    );
  }

  async #write(events: readonly OutboxEvent[], manager: EntityManager): Promise<void> {
    if (events.length === 0) return;
    const sql = this.database.on(manager);
    const accounts = new Set(events.map(({ account }) => account));
    const endpoints = await this.endpoints.enabled(accounts, sql);
    const now = this.clock.now();
    const rows: unknown[][] = [];
    for (const event of events) {
      const receivers = endpoints.get(event.account) ?? [];
      if (receivers.length === 0) continue;
      const body = event.body(now);
      for (const { id } of receivers)
        rows.push([this.clock.id(), id, event.message, event.sequence, body, now]);
    }
    for (let from = 0; from < rows.length; from += MAX_ROWS)
      await sql.run(this.#insert, this.#rows.bind(rows.slice(from, from + MAX_ROWS)));
  }
}
