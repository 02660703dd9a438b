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
import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { EntityManager } from 'typeorm';
import { WebhookDeliveryStore } from './webhook-delivery.store.js';
import { type OutboxEvent, WebhookEvents } from './webhook-event.js';
import { WebhookSender } from './webhook-sender.js';

/** Writes callbacks in the transaction of their event, and wakes the lanes after the commit. */
@Injectable()
export class WebhookOutboxListener implements StatusListener, InboundListener {
  /** The endpoints that accounts had at their last callback, for its wake. */
  readonly #receivers = new Map<string, readonly string[]>();

  constructor(
    private readonly queues: WorkQueues,
    private readonly deliveries: WebhookDeliveryStore,
    private readonly events: WebhookEvents,
    private readonly sender: WebhookSender,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  onStatusChanged(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void> {
    return this.#write(
      changes.map((change) => this.events.ofStatus(change)),
      manager,
    );
  }

  onInbound(received: readonly InboundReceived[], manager: EntityManager): Promise<void> {
    return this.#write(
      received.map((one) => this.events.ofInbound(one)),
      manager,
    );
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatusCommitted(change: MessageStatusChanged): void {
    this.#wake(this.events.ofStatus(change));
  }

  @OnEvent(INBOUND_RECEIVED)
  onInboundCommitted(received: InboundReceived): void {
    this.#wake(this.events.ofInbound(received));
  }

  #wake(event: OutboxEvent | undefined): void {
    if (event) for (const id of this.#receivers.get(event.account) ?? []) this.sender.wake(id);
  }

  async #write(
    possible: readonly (OutboxEvent | undefined)[],
    manager: EntityManager,
  ): Promise<void> {
    const events = possible.filter((event) => event !== undefined);
    if (events.length === 0) return;
    const sql = this.queues.database.join(manager);
    const accounts = new Set(events.map(({ account }) => account));
    const endpoints = await this.deliveries.receivers(sql, accounts);
    for (const account of accounts) this.#receivers.set(account, endpoints.get(account) ?? []);
    const madeAt = new Date(this.clock.now());
    const createdAt = madeAt.getTime();
    const rows = events.flatMap(({ account, messageId, sequence, type, data }) => {
      const receivers = endpoints.get(account);
      if (!receivers) return [];
      const payload = JSON.stringify({ type, timestamp: madeAt.toISOString(), data });
      const delivery = { messageId, sequence, payload, createdAt };
      return receivers.map((endpointId) => ({ ...delivery, endpointId, id: this.clock.id() }));
    });
    await this.deliveries.insert(sql, rows);
  }
}
