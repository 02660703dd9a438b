import type {
  BATCH_COMPLETED,
  BatchCompleted,
  INBOUND_RECEIVED,
  InboundReceived,
  MESSAGE_STATUS_CHANGED,
  MessageStatusChanged,
} from '../message/events.js';

export interface MessagingEvents {
  readonly [MESSAGE_STATUS_CHANGED]: MessageStatusChanged;
  readonly [BATCH_COMPLETED]: BatchCompleted;
  readonly [INBOUND_RECEIVED]: InboundReceived;
}

/** Publishes events after their commit. Never throws. */
export interface EventPublisher {
  /** Whether the event has listeners. Events without listeners are not built. */
  wants(event: keyof MessagingEvents): boolean;
  publish<E extends keyof MessagingEvents>(event: E, payload: MessagingEvents[E]): void;
}
