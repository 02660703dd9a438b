import type { Columns, Dialect } from '../store/dialect.js';
import type { Sql } from '../store/store-database.js';

/** The sender of messages that leave the choice to the service: who wrote to any number, wrote to it. */
export const ANY_SENDER = '';

export interface InboundTime {
  readonly contact: string;
  /** The number they wrote to. */
  readonly sender: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

const INBOUND = {
  v_contact: 'uuid',
  v_sender: 'key',
  v_at: 'bigint',
} as const satisfies Columns;

/** When contacts last wrote, by the number they wrote to, and to any. It never goes back. */
export class InboundTimes {
  readonly #rows;
  readonly #raise: string;

  constructor(dialect: Dialect) {
    this.#rows = dialect.rows(INBOUND);
    this.#raise = `INSERT INTO messaging_inbound (contact, sender, last_at)
      SELECT v_contact, v_sender, v_at FROM ${this.#rows.sql} WHERE 1 = 1
      ${dialect.onConflict('contact, sender', `last_at = ${dialect.greatest('messaging_inbound.last_at', 'new.last_at')}`)}`;
  }

  async record(tx: Sql, times: readonly InboundTime[]): Promise<void> {
    const latest = new Map<string, [contact: string, sender: string, at: number]>();
    for (const { contact, sender, at } of times)
      for (const to of [sender, ANY_SENDER]) {
        const key = `${contact} ${to}`;
        if ((latest.get(key)?.[2] ?? -Infinity) < at * 1_000)
          latest.set(key, [contact, to, at * 1_000]);
      }
    if (latest.size === 0) return;
    // In one order, so that two of these never wait for each other.
    const sorted = [...latest.keys()].sort().map((key) => latest.get(key) as unknown[]);
    await tx.run(this.#raise, this.#rows.bind(sorted));
  }
}
