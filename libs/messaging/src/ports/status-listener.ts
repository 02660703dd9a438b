import type { EntityManager } from 'typeorm';
import type { MessageStatusChanged } from '../message/events.js';

/**
 * Called inside the transaction that changes statuses: the listener's writes through `manager` commit or roll back
 * with them. The listener must only use the database, through `manager`.
 */
export interface StatusListener {
  onStatusChanged(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void>;
}

/**
 * Injection token of a {@link StatusListener}. Any module may provide it; a provider may provide an array.
 *
 * @example
 * providers: [{ provide: MESSAGING_STATUS_LISTENER, useClass: Outbox }]
 */
export const MESSAGING_STATUS_LISTENER = Symbol('MESSAGING_STATUS_LISTENER');

/** The listeners that the app's modules provide. */
export class StatusListeners {
  readonly #listeners: StatusListener[] = [];

  add(listener: StatusListener): void {
    this.#listeners.push(listener);
  }

  get empty(): boolean {
    return this.#listeners.length === 0;
  }

  async notify(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void> {
    for (const listener of this.#listeners) await listener.onStatusChanged(changes, manager);
  }
}
