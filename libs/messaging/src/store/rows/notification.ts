import { type Dialect, type RowWriter, updater } from '../database/dialect.js';

/** SQL assignment: the steps of the notification are looked at as soon as possible. */
export const WOKEN = 'due_at = 0';

/** Writes, in the transaction of a status that ends a step, that its notification is due. */
export function wakeNotifications(dialect: Dialect): RowWriter<string> {
  return updater(
    dialect,
    { v_id: ['uuid', (id) => id] },
    { table: 'messaging_notification', set: WOKEN, where: 'messaging_notification.id = v_id' },
  );
}
