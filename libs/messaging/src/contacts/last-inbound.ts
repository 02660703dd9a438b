import type { Columns, Dialect } from '../store/database/dialect.js';
import type { Sql } from '../store/database/store-database.js';

/**
 * Sender of messages for which the provider chooses the number: inbound messages to any number
 * count.
 */
export const ANY_SENDER = '';

export interface InboundTime {
  readonly contact: string;
  /** The address that received the message. */
  readonly sender: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

const INBOUND = {
  v_contact: 'uuid',
  v_sender: 'key',
  v_at: 'bigint',
} as const satisfies Columns;

/**
 * Time of each contact's last message, by receiving address and over all addresses. A recorded time
 * never decreases.
 */
export class LastInbound {
  readonly #rows;
  readonly #ids;
  readonly #raise: string;
  readonly #select: string;

  constructor(dialect: Dialect) {
    this.#rows = dialect.rows(INBOUND);
    this.#ids = dialect.rows({ v_id: 'uuid' });
    this.#raise = `INSERT INTO messaging_last_inbound (contact, sender, last_at)
      SELECT v_contact, v_sender, v_at FROM ${this.#rows.sql} WHERE 1 = 1
      ${dialect.onConflict('contact, sender', `last_at = ${dialect.greatest('messaging_last_inbound.last_at', 'new.last_at')}`)}`;
    this.#select = `SELECT i.contact, i.sender, i.last_at AS at FROM ${this.#ids.keyed}
      ${dialect.join} messaging_last_inbound i ON i.contact = v_id`;
  }

  /** Records times. The caller holds the contact locks. */
  async record(tx: Sql, times: readonly InboundTime[]): Promise<void> {
    const latest = new Map<string, InboundTime>();
    for (const time of times)
      for (const sender of [time.sender, ANY_SENDER]) {
        const key = `${time.contact} ${sender}`;
        if ((latest.get(key)?.at ?? -Infinity) < time.at) latest.set(key, { ...time, sender });
      }
    if (latest.size === 0) return;
    // A fixed order avoids deadlocks between transactions.
    const rows = [...latest.keys()].sort().map((key) => {
      const { contact, sender, at } = latest.get(key) as InboundTime;
      return [contact, sender, at * 1_000];
    });
    await tx.run(this.#raise, this.#rows.bind(rows));
  }

  /** Copies times to the target contacts of a merge. The caller holds the contact locks. */
  async move(tx: Sql, to: ReadonlyMap<string, string>): Promise<void> {
    const rows = await tx.all<{ contact: string; sender: string; at: string | number }>(
      this.#select,
      this.#ids.bind([...to.keys()].map((id) => [id])),
    );
    const times = rows.map(({ contact, sender, at }) => ({
      contact: to.get(contact) as string,
      sender,
      at: Number(at) / 1_000,
    }));
    await this.record(tx, times);
  }
}
