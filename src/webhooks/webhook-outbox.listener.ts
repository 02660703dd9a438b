import {
  type Clock,
  INBOUND_RECEIVED,
  type InboundListener,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  MESSAGING_CLOCK,
  type MessageStatusChanged,
  type StatusListener,
} from '@dundun/messaging';
import { WorkQueues } from '@dundun/messaging/queue';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { EntityManager } from 'typeorm';
import { type NewDelivery, WebhookDeliveryStore } from './webhook-delivery.store.js';
import { WebhookEndpointCache } from './webhook-endpoint.cache.js';
import { WebhookEvents } from './webhook-event.js';
import { WebhookSender } from './webhook-sender.js';

/** Width of the column. */
const LONGEST_MESSAGE_ID = 64;

/** A status change or an inbound message. */
interface OutboxEvent {
  readonly account: string;
  readonly message: string;
  readonly sequence: number;
  readonly body: (now: number) => string;
}

/**
 * Writes callbacks in the transaction that raises a status or stores an inbound message, so that
 * both commit or neither. After the commit it wakes the lanes of the account's endpoints.
 */
@Injectable()
export class WebhookOutboxListener implements StatusListener, InboundListener {
  readonly #logger = new Logger('WebhookOutbox');

  constructor(
    private readonly queues: WorkQueues,
    private readonly deliveries: WebhookDeliveryStore,
    private readonly endpoints: WebhookEndpointCache,
    private readonly events: WebhookEvents,
    private readonly sender: WebhookSender,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  onStatusChanged(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void> {
    return this.#write(
      changes
        .filter((change) => this.events.hasCallback(change))
        .map((change) => ({
          account: change.tenant,
          message: change.messageId,
          sequence: change.sequence,
          body: (now) => this.events.statusBody(change, now),
        })),
      manager,
    );
  }

  onInbound(received: readonly InboundReceived[], manager: EntityManager): Promise<void> {
    return this.#write(
      received
        .filter((one) => this.events.hasInboundCallback(one))
        .map((one) => ({
          account: one.tenant,
          message: one.messageId.slice(0, LONGEST_MESSAGE_ID),
          sequence: 1,
          body: (now) => this.events.inboundBody(one, now),
        })),
      manager,
    );
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatusCommitted(change: MessageStatusChanged): void {
    if (this.events.hasCallback(change)) this.#wake(change.tenant);
  }

  @OnEvent(INBOUND_RECEIVED)
  onInboundCommitted(received: InboundReceived): void {
    if (this.events.hasInboundCallback(received)) this.#wake(received.tenant);
  }

  #wake(account: string): void {
    // On a failure the wake job finds the deliveries.
    this.sender
      .wakeAccount(account)
      .catch((error: unknown) => this.#logger.warn({ message: 'webhooks not woken', err: error }));
  }

  async #write(events: readonly OutboxEvent[], manager: EntityManager): Promise<void> {
    if (events.length === 0) return;
    const sql = this.queues.database.join(manager);
    const accounts = new Set(events.map(({ account }) => account));
    const endpoints = await this.endpoints.enabled(accounts, sql);
    const createdAt = this.clock.now();
    const rows: NewDelivery[] = [];
    for (const { account, message, sequence, body } of events) {
      const receivers = endpoints.get(account) ?? [];
      if (receivers.length === 0) continue;
      const payload = body(createdAt);
      for (const { id: endpointId } of receivers)
        rows.push({
          id: this.clock.id(),
          endpointId,
          messageId: message,
          sequence,
          payload,
          createdAt,
        });
    }
    await this.deliveries.insert(sql, rows);
  }
}
