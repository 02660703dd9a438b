import type { ChannelRegistry } from '../../message/channel-registry.js';
import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  type MessagingEvents,
} from '../../message/events.js';
import type { EventPublisher } from '../../ports/listeners.js';
import type { MessagingTracing, TraceContext } from '../../ports/tracing.js';
import { GroupCommit } from '../database/group-commit.js';
import type { StoreDatabase } from '../database/store-database.js';
import { readContent } from '../rows/stored-content.js';

/** Many batches per query; used only with tracing. */
export class TraceContexts extends GroupCommit<string, TraceContext | undefined> {
  constructor(database: StoreDatabase) {
    const { dialect } = database;
    const ids = dialect.rows({ v_id: 'uuid' });
    const select = `SELECT b.id, b.content FROM ${ids.keyed}
      ${dialect.join} messaging_batch b ${dialect.forceIndex('PRIMARY')} ON b.id = v_id
      WHERE ${dialect.residual('b.content IS NOT NULL')}`;
    const read = async (batches: readonly string[]) => {
      const rows = await database.all<{ id: string; content: string }>(
        select,
        ids.bind([...new Set(batches)].map((id) => [id])),
      );
      const traces = new Map(rows.map(({ id, content }) => [id, readContent(content).trace]));
      return batches.map((id) => traces.get(id));
    };
    super((take) => read(take()), { maxItems: 1_000, isItemError: () => false });
  }
}

/** Publishes events, and adds the final status of each message to its trace. */
export class TracedEvents implements EventPublisher {
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
    if (event !== MESSAGE_STATUS_CHANGED) return;
    // An unreadable trace must not fail the event.
    void this.#recordFinal(payload as MessageStatusChanged).catch(() => undefined);
  }

  async #recordFinal({ batchId, messageId, channel, status, errorCode }: MessageStatusChanged) {
    // No provider reports a cancel.
    const isFinal = this.channels.isTerminal(status) && status !== 'cancelled';
    const parent = isFinal && (await this.contexts.add(batchId));
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
