import type { NotificationChange } from '../../message/events.js';
import type { EventPublisher, StatusListeners } from '../../ports/listeners.js';
import type { StoreDatabase, Transaction } from '../../store/database/store-database.js';

type Name = NotificationChange['event'];

/** Tells listeners what became of notifications: in the transaction, and after its commit. */
export class NotificationEvents {
  constructor(
    private readonly database: Pick<StoreDatabase, 'runForeign'>,
    private readonly listeners: StatusListeners,
    private readonly publisher: EventPublisher,
  ) {}

  /** In the transaction that changes the notifications. */
  async record(tx: Transaction, changes: readonly NotificationChange[]): Promise<void> {
    if (changes.length === 0) return;
    await this.database.runForeign(() => this.listeners.notifyNotifications(changes, tx.manager));
  }

  /** After the commit. */
  publish(changes: readonly NotificationChange[]): void {
    for (const change of changes) this.#publish(change);
  }

  #publish<E extends Name>({ event, change }: NotificationChange<E>): void {
    this.publisher.publish(event, change);
  }
}
