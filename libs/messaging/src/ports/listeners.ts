import type { EntityManager } from 'typeorm';
import type { InboundReceived, MessageStatusChanged, MessagingEvents } from '../message/events.js';

/**
 * Called inside the transaction that changes statuses: writes through `manager` commit or roll back
 * with them. The listener must only use the database, through `manager`.
 */
export interface StatusListener {
  onStatusChanged(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void>;
}

/**
 * Injection token of {@link StatusListener}s; any module may provide one, or an array.
 * @example
 * providers: [{ provide: MESSAGING_STATUS_LISTENER, useClass: Outbox }]
 */
export const MESSAGING_STATUS_LISTENER = Symbol('MESSAGING_STATUS_LISTENER');

/** Called inside the transaction that stores inbound messages; as {@link StatusListener}. */
export interface InboundListener {
  onInbound(received: readonly InboundReceived[], manager: EntityManager): Promise<void>;
}

/** Injection token of {@link InboundListener}s; any module may provide one, or an array. */
export const MESSAGING_INBOUND_LISTENER = Symbol('MESSAGING_INBOUND_LISTENER');

class Listeners<L> {
  protected readonly all: L[] = [];

  add(...listeners: readonly L[]): void {
    this.all.push(...listeners);
  }

  get empty(): boolean {
    return this.all.length === 0;
  }
}

export class StatusListeners extends Listeners<StatusListener> {
  async notify(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void> {
    for (const listener of this.all) await listener.onStatusChanged(changes, manager);
  }
}

export class InboundListeners extends Listeners<InboundListener> {
  async notify(received: readonly InboundReceived[], manager: EntityManager): Promise<void> {
    for (const listener of this.all) await listener.onInbound(received, manager);
  }
}

/** Publishes events after their commit. Never throws. */
export interface EventPublisher {
  /** Whether the event has listeners. Events without listeners are not built. */
  wants(event: keyof MessagingEvents): boolean;
  publish<E extends keyof MessagingEvents>(event: E, payload: MessagingEvents[E]): void;
}
