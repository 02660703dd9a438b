import type { EntityManager } from 'typeorm';
import type { InboundReceived } from '../message/events.js';

/**
 * Hears of inbound messages inside the transaction that takes them: what it writes through `manager`
 * commits with them or not at all. It must only talk to the database, and through `manager`.
 */
export interface InboundListener {
  onInbound(received: readonly InboundReceived[], manager: EntityManager): Promise<void>;
}

/** Where listeners register, in `onModuleInit`. */
export class InboundListeners {
  readonly #listeners: InboundListener[] = [];

  add(listener: InboundListener): void {
    this.#listeners.push(listener);
  }

  async tell(received: readonly InboundReceived[], manager: EntityManager): Promise<void> {
    for (const listener of this.#listeners) await listener.onInbound(received, manager);
  }
}
