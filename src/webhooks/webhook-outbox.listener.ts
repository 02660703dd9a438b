import {
  INBOUND_RECEIVED,
  type InboundListener,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  type StatusListener,
} from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { EntityManager } from 'typeorm';
import { type OutboxEvent, WebhookEvents } from './webhook-event.js';
import { WebhookOutbox } from './webhook-outbox.js';
import { WebhookSender } from './webhook-sender.js';

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

  #wake(account: string): void {
    for (const id of this.outbox.receiversOf(account)) this.sender.wake(id);
  }
}
