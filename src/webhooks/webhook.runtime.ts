import {
  INBOUND_RECEIVED,
  InboundListeners,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  StatusListeners,
} from '@dundun/messaging';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { callsBack, inboundCallsBack } from './webhook-event.js';
import { WebhookOutboxListener } from './webhook-outbox.listener.js';
import { WebhookPurgeJob } from './webhook-purge.job.js';
import { WebhookSender } from './webhook-sender.js';

/** Ties webhooks to the store: rows in its transactions, a wake after its commits, its start and stop. */
@Injectable()
export class WebhookRuntime
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  constructor(
    @Inject(StatusListeners) private readonly listeners: StatusListeners,
    @Inject(InboundListeners) private readonly inbound: InboundListeners,
    @Inject(WebhookOutboxListener) private readonly outbox: WebhookOutboxListener,
    @Inject(WebhookSender) private readonly sender: WebhookSender,
    @Inject(WebhookPurgeJob) private readonly purge: WebhookPurgeJob,
  ) {}

  onModuleInit(): void {
    this.listeners.add(this.outbox);
    this.inbound.add(this.outbox);
  }

  onApplicationBootstrap(): void {
    this.sender.start();
    this.purge.start();
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onCommitted(change: MessageStatusChanged): void {
    if (callsBack(change)) this.sender.wakeAccount(change.tenant);
  }

  @OnEvent(INBOUND_RECEIVED)
  onReceived(received: InboundReceived): void {
    if (inboundCallsBack(received)) this.sender.wakeAccount(received.tenant);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.sender.stop(), this.purge.stop()]);
  }
}
