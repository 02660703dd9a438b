import { addressOfKey } from '../message/address.js';
import type { Page } from '../message/views.js';
import { decodeCursor, encodeCursor } from '../store/rows/cursor.js';
import type { Columns, Dialect } from '../store/database/dialect.js';
import type { Sql } from '../store/database/store-database.js';
import { REFUSED } from './consent.js';
import type { ContactListOptions, SuppressionEntry } from './contact.js';
import { limitOf } from './contact-input.js';

/** Scope of a suppression; `*` is every channel, or every category. */
export interface SuppressionScope {
  readonly channel: string;
  readonly category: string;
}

const SUPPRESSION = {
  v_tenant: 'key',
  v_address: 'key',
  v_channel: 'key',
  v_category: 'key',
  v_reason: 'key',
  v_at: 'bigint',
} as const satisfies Columns;

interface SuppressionRow extends SuppressionScope {
  readonly address: string;
  readonly channel: SuppressionEntry['channel'];
  readonly reason: string;
  readonly at: string | number;
}

/** Addresses that receive no messages, regardless of their contact. */
export class Suppressions {
  readonly #rows;
  readonly #insert: string;
  readonly #addresses;

  constructor(dialect: Dialect) {
    this.#rows = dialect.rows(SUPPRESSION);
    this.#addresses = dialect.rows({ v_address: 'key' });
    const was = (column: string) => `messaging_suppression.${column}`;
    // A refusal's entry ends with the first younger consent; any other entry stays. MySQL assigns
    // from left to right, so the column that decides comes last.
    this.#insert = `INSERT INTO messaging_suppression (tenant, address, channel, category, reason, at)
      SELECT v_tenant, v_address, v_channel, v_category, v_reason, v_at FROM ${this.#rows.sql} WHERE 1 = 1
      ${dialect.onConflict(
        'tenant, address, channel, category',
        `at = CASE WHEN ${was('reason')} = '${REFUSED}'
            THEN ${dialect.greatest(was('at'), 'new.at')} ELSE ${was('at')} END,
          reason = CASE WHEN ${was('reason')} = '${REFUSED}' THEN new.reason ELSE ${was('reason')} END`,
      )}`;
  }

  /** @param at epoch milliseconds */
  async add(
    tx: Sql,
    tenant: string,
    addresses: readonly string[],
    { channel, category }: SuppressionScope,
    { reason, at }: { readonly reason: string; readonly at: number },
  ): Promise<void> {
    if (addresses.length === 0) return;
    const rows = [...addresses]
      .sort()
      .map((address) => [tenant, address, channel, category, reason, at * 1_000]);
    await tx.run(this.#insert, this.#rows.bind(rows));
  }

  async remove(
    tx: Sql,
    tenant: string,
    addresses: readonly string[],
    { channel, category }: SuppressionScope,
  ): Promise<void> {
    if (addresses.length === 0) return;
    await tx.run(
      `DELETE FROM messaging_suppression WHERE address IN (SELECT v_address FROM ${this.#addresses.sql})
         AND tenant = ? AND channel = ? AND category = ?`,
      [...this.#addresses.bind(addresses.map((address) => [address])), tenant, channel, category],
    );
  }

  /** Lists entries, ordered by address. */
  async list(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    options: ContactListOptions,
  ): Promise<Page<SuppressionEntry>> {
    const { cursor } = options;
    const limit = limitOf(options);
    const [address = '', channel = '', category = ''] =
      cursor === undefined ? [] : decodeCursor(cursor, 'suppression').split(' ');
    const rows = await sql.all<SuppressionRow>(
      `SELECT address, channel, category, reason, at FROM messaging_suppression
       WHERE tenant = ? AND (address > ? OR (address = ? AND (channel > ? OR (channel = ? AND category > ?))))
       ORDER BY address, channel, category LIMIT ?`,
      [tenant, address, address, channel, channel, category, limit + 1],
    );
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      data: page.map(({ address: key, at, ...row }) => ({
        address: addressOfKey(key),
        ...row,
        at: new Date(Number(at) / 1_000),
      })),
      nextCursor:
        rows.length > limit && last
          ? encodeCursor(`${last.address} ${last.channel} ${last.category}`)
          : null,
    };
  }
}
