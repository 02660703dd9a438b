import {
  type Clock,
  INBOUND_RECEIVED,
  type InboundListener,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  MESSAGING_CLOCK,
  type MessageStatusChanged,
  NOTIFICATION_DOUBLED,
  NOTIFICATION_ENDED,
  NOTIFICATION_FELL_BACK,
  type StatusListener,
} from '@dundun/messaging';
import type { NotificationChange } from '@dundun/messaging/ports';
import { WorkQueues } from '@dundun/messaging/queue';
import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { EntityManager } from 'typeorm';
import type { AccountEvent, AccountEvents } from '../accounts/account-events.js';
import { notificationCallbackOf } from './notification-callbacks.js';
import { WebhookDeliveryStore } from './webhook-delivery.store.js';
import { type OutboxEvent, WebhookEvents } from './webhook-event.js';
import { receives } from './webhook-kinds.js';
import { WebhookSender } from './webhook-sender.js';

@Injectable()
export class WebhookOutbox implements AccountEvents {
  constructor(
    private readonly queues: WorkQueues,
    private readonly deliveries: WebhookDeliveryStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  async record(events: readonly AccountEvent[], manager: EntityManager): Promise<void> {
    const all = events.map(({ subject: messageId, ...event }) => {
      return { ...event, messageId, sequence: 1 };
    });
    await this.write(all, manager);
  }

  /** @returns the endpoints of the accounts, also those that chose other kinds of events */
  async write(
    events: readonly OutboxEvent[],
    manager: EntityManager,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    if (events.length === 0) return new Map();
    const sql = this.queues.database.join(manager);
    const accounts = new Set(events.map(({ account }) => account));
    const endpoints = await this.deliveries.receivers(sql, accounts);
    const madeAt = new Date(this.clock.now());
    const createdAt = madeAt.getTime();
    const rows = events.flatMap(({ account, messageId, sequence, type, data, toldBy }) => {
      const receivers = (endpoints.get(account) ?? []).filter(
        (one) => receives(one, type) && (toldBy === undefined || !receives(one, toldBy)),
      );
      if (receivers.length === 0) return [];
      const payload = JSON.stringify({ type, timestamp: madeAt.toISOString(), data });
      const delivery = { messageId, sequence, type, payload, createdAt };
      return receivers.map(({ id }) => ({ ...delivery, endpointId: id, id: this.clock.id() }));
    });
    await this.deliveries.insert(manager, rows);
    return new Map([...endpoints].map(([account, found]) => [account, found.map(({ id }) => id)]));
  }
}

/** Writes callbacks in the transaction of their event, also in processes that send none. */
@Injectable()
export class WebhookOutboxListener implements StatusListener, InboundListener {
  /** The endpoints that accounts had at their last callback, for its wake. */
  readonly #receivers = new Map<string, readonly string[]>();

  constructor(
    private readonly outbox: WebhookOutbox,
    private readonly events: WebhookEvents,
  ) {}

  async onStatusChanged(
    changes: readonly MessageStatusChanged[],
    manager: EntityManager,
  ): Promise<void> {
    await this.#write(await this.events.ofStatuses(changes, manager), manager);
  }

  onInbound(received: readonly InboundReceived[], manager: EntityManager): Promise<void> {
    return this.#write(
      received.flatMap((one) => this.events.ofInbound(one) ?? []),
      manager,
    );
  }

  onNotifications(changes: readonly NotificationChange[], manager: EntityManager): Promise<void> {
    return this.#write(changes.map(notificationCallbackOf), manager);
  }

  receiversOf(account: string): readonly string[] {
    return this.#receivers.get(account) ?? [];
  }

  async #write(events: readonly OutboxEvent[], manager: EntityManager): Promise<void> {
    const receivers = await this.outbox.write(events, manager);
    for (const { account } of events) this.#receivers.set(account, receivers.get(account) ?? []);
  }
}

/** Wakes the lanes of callbacks after the commit of their event. */
@Injectable()
export class WebhookWakes {
  constructor(
    private readonly outbox: WebhookOutboxListener,
    private readonly events: WebhookEvents,
    private readonly sender: WebhookSender,
  ) {}

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatusCommitted(change: MessageStatusChanged): void {
    if (this.events.isSent(change)) this.#wake(change.tenant);
  }

  @OnEvent(INBOUND_RECEIVED)
  onInboundCommitted(received: InboundReceived): void {
    this.#wake(received.tenant);
  }

  @OnEvent(NOTIFICATION_FELL_BACK)
  @OnEvent(NOTIFICATION_ENDED)
  @OnEvent(NOTIFICATION_DOUBLED)
  onNotificationCommitted({ tenant }: { readonly tenant: string }): void {
    this.#wake(tenant);
  }

  #wake(account: string): void {
    for (const id of this.outbox.receiversOf(account)) this.sender.wake(id);
  }
}
