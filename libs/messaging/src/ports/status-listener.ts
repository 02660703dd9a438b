import type { EntityManager } from 'typeorm';
import type { MessageStatusChanged } from '../message/events.js';

/**
 * Hears of status changes inside the transaction that makes them: what it writes through `manager`
 * commits with the status or not at all. It must only talk to the database, and through `manager`.
 */
export interface StatusListener {
  onStatusChanged(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void>;
}

/** Where listeners register, in `onModuleInit`. */
export class StatusListeners {
  readonly #listeners: StatusListener[] = [];

  add(listener: StatusListener): void {
    this.#listeners.push(listener);
  }

  get empty(): boolean {
    return this.#listeners.length === 0;
  }

  async tell(changes: readonly MessageStatusChanged[], manager: EntityManager): Promise<void> {
    for (const listener of this.#listeners) await listener.onStatusChanged(changes, manager);
  }
}
