import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { WorkQueues } from '@dundun/messaging/queue';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AccountEvent, AccountEvents } from '../accounts/account-events.js';
import { WebhookDeliveryStore } from './webhook-delivery.store.js';
import type { OutboxEvent } from './webhook-event.js';
import { receives } from './webhook-kinds.js';

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
    const rows = events.flatMap(({ account, messageId, sequence, type, data }) => {
      const receivers = (endpoints.get(account) ?? []).filter((one) => receives(one, type));
      if (receivers.length === 0) return [];
      const payload = JSON.stringify({ type, timestamp: madeAt.toISOString(), data });
      const delivery = { messageId, sequence, type, payload, createdAt };
      return receivers.map(({ id }) => ({ ...delivery, endpointId: id, id: this.clock.id() }));
    });
    await this.deliveries.insert(manager, rows);
    return new Map([...endpoints].map(([account, found]) => [account, found.map(({ id }) => id)]));
  }
}
