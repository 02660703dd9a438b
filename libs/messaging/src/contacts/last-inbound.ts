import type { Columns, Dialect } from '../store/database/dialect.js';
import type { Sql } from '../store/database/store-database.js';

/** Sender of messages that leave the choice of a number to the provider: an inbound message to any number counts. */
export const ANY_SENDER = '';

export interface InboundTime {
  readonly contact: string;
  /** The address of ours that was written to. */
  readonly sender: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

const INBOUND = {
  v_contact: 'uuid',
  v_sender: 'key',
  v_at: 'bigint',
} as const satisfies Columns;

/** When contacts last wrote, by the address of ours, and to any. A time is never set back. */
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
    this.#select = `SELECT i.contact, i.sender, i.last_at AS at FROM ${this.#ids.sql}
      ${dialect.join} messaging_last_inbound i ON i.contact = v_id`;
  }

  /** The contacts are locked. */
  async record(tx: Sql, times: readonly InboundTime[]): Promise<void> {
    const latest = new Map<string, InboundTime>();
    for (const time of times)
      for (const sender of [time.sender, ANY_SENDER]) {
        const key = `${time.contact} ${sender}`;
        if ((latest.get(key)?.at ?? -Infinity) < time.at) latest.set(key, { ...time, sender });
      }
    if (latest.size === 0) return;
    // In one order, so that two transactions never wait for each other.
    const rows = [...latest.keys()].sort().map((key) => {
      const { contact, sender, at } = latest.get(key) as InboundTime;
      return [contact, sender, at * 1_000];
    });
    await tx.run(this.#raise, this.#rows.bind(rows));
  }

  /** Copies times to the contacts these are merged into. All of them are locked. */
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
