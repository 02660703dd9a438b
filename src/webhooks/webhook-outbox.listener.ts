import {
  INBOUND_RECEIVED,
  type InboundListener,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  type StatusListener,
  VasService,
  VoiceService,
} from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { EntityManager } from 'typeorm';
import { callFactsOf } from '../http/call-facts.js';
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
    @Inject(VoiceService) private readonly voice: Pick<VoiceService, 'facts'>,
    @Inject(VasService) private readonly vas: Pick<VasService, 'findAll'>,
  ) {}

  async onStatusChanged(
    changes: readonly MessageStatusChanged[],
    manager: EntityManager,
  ): Promise<void> {
    const calls = changes.filter(({ channel }) => this.events.isCall(channel));
    const facts =
      calls.length > 0
        ? await this.voice.facts(
            calls.map((call) => ({ ...call, id: call.messageId })),
            { manager },
          )
        : undefined;
    const ordered = changes.filter(({ channel }) => this.events.isOrder(channel));
    const orders =
      ordered.length > 0
        ? await this.vas.findAll(
            ordered.map(({ batchId }) => batchId),
            { manager },
          )
        : undefined;
    await this.#write(
      changes.map((change) => {
        const ofCall = facts?.get(change.messageId);
        return this.events.ofStatus(change, {
          facts: ofCall && callFactsOf(ofCall),
          order: orders?.get(change.batchId),
        });
      }),
      manager,
    );
  }

  onInbound(received: readonly InboundReceived[], manager: EntityManager): Promise<void> {
    return this.#write(
      received.map((one) => this.events.ofInbound(one)),
      manager,
    );
  }

  receiversOf(account: string): readonly string[] {
    return this.#receivers.get(account) ?? [];
  }

  async #write(
    possible: readonly (OutboxEvent | undefined)[],
    manager: EntityManager,
  ): Promise<void> {
    const events = possible.filter((event) => event !== undefined);
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
