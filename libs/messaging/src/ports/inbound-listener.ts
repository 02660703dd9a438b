import type { EntityManager } from 'typeorm';
import type { InboundReceived } from '../message/events.js';

/**
 * Called inside the transaction that stores inbound messages: the listener's writes through `manager` commit or roll
 * back with them. The listener must only use the database, through `manager`.
 */
export interface InboundListener {
  onInbound(received: readonly InboundReceived[], manager: EntityManager): Promise<void>;
}

/** Injection token of an {@link InboundListener}. Any module may provide it; a provider may provide an array. */
export const MESSAGING_INBOUND_LISTENER = Symbol('MESSAGING_INBOUND_LISTENER');

/** The listeners that the app's modules provide. */
export class InboundListeners {
  readonly #listeners: InboundListener[] = [];

  add(listener: InboundListener): void {
    this.#listeners.push(listener);
  }

  async notify(received: readonly InboundReceived[], manager: EntityManager): Promise<void> {
    for (const listener of this.#listeners) await listener.onInbound(received, manager);
  }
}
