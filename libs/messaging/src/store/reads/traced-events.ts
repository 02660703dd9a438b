import type { ChannelRegistry } from '../../message/channel-registry.js';
import { MESSAGE_STATUS_CHANGED, type MessageStatusChanged } from '../../message/events.js';
import type { EventPublisher, MessagingEvents } from '../../ports/event-publisher.js';
import type { MessagingTracing } from '../../ports/tracing.js';
import type { TraceContexts } from './trace-contexts.js';

/** Most final statuses that wait for their trace context; further ones are dropped. */
const MAX_PENDING = 10_000;

/** Publishes events, and adds the final status of each message to its trace. */
export class TracedEvents implements EventPublisher {
  #waiting = 0;

  constructor(
    private readonly events: EventPublisher,
    private readonly channels: ChannelRegistry,
    private readonly contexts: TraceContexts,
    private readonly tracing: MessagingTracing,
  ) {}

  wants(event: keyof MessagingEvents): boolean {
    return event === MESSAGE_STATUS_CHANGED || this.events.wants(event);
  }

  publish<E extends keyof MessagingEvents>(event: E, payload: MessagingEvents[E]): void {
    if (this.events.wants(event)) this.events.publish(event, payload);
    if (event === MESSAGE_STATUS_CHANGED) this.#follow(payload as MessageStatusChanged);
  }

  #follow(change: MessageStatusChanged): void {
    if (!this.channels.isTerminal(change.status) || this.#waiting >= MAX_PENDING) return;
    this.#waiting++;
    // Errors are ignored: an unreadable trace must not fail the event.
    void this.#recordFinal(change)
      .catch(() => undefined)
      .finally(() => this.#waiting--);
  }

  async #recordFinal({ batchId, messageId, channel, status, errorCode }: MessageStatusChanged) {
    const parent = await this.contexts.of(batchId);
    if (!parent) return;
    await this.tracing.step(
      {
        operation: 'report',
        type: 'process',
        kind: 'consumer',
        channel,
        id: messageId,
        parent,
        attributes: { 'dundun.message.status': status },
        error: errorCode,
      },
      async () => undefined,
    );
  }
}
