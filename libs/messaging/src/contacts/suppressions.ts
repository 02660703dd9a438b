import { addressOfKey } from '../message/address.js';
import type { Page } from '../message/views.js';
import type { Sql } from '../store/database/store-database.js';
import { pageOf } from '../store/reads/reads.js';
import type { ConsentScope, ContactListOptions, SuppressionEntry } from './contact.js';
import { pageRequest, tenantOf } from './contact-input.js';
import { type ContactTables, decoded, type Row } from './contact-tables.js';

/** Suppression reason of a refusal that outlives its erased contact. */
export const REFUSED = 'opted_out';

/** A refusal of an erased contact, and the contact that now has its address. */
type OutlivedRefusal = Row<'suppression'> & { readonly contact: string };

/** Addresses that receive no messages, regardless of their contact. */
export class Suppressions {
  constructor(private readonly tables: ContactTables) {}

  async add(tx: Sql, rows: readonly Row<'suppression'>[]): Promise<void> {
    const { dialect } = this.tables;
    const ofRefusal = (column: string, raised: string) =>
      `${column} = CASE WHEN messaging_suppression.reason = '${REFUSED}'
        THEN ${raised} ELSE messaging_suppression.${column} END`;
    // A refusal's entry ends with the first younger consent; any other entry stays. MySQL assigns
    // from left to right, so the column that decides comes last.
    const set = [
      ofRefusal('at', dialect.greatest('messaging_suppression.at', 'new.at')),
      ofRefusal('reason', 'new.reason'),
    ];
    const conflict = dialect.onConflict('tenant, address, channel, category', set.join(', '));
    await this.tables.insert(tx, 'suppression', rows, conflict);
  }

  async remove(
    tx: Sql,
    tenant: string,
    addresses: readonly string[],
    { channel, category }: ConsentScope,
  ): Promise<void> {
    const keys = this.tables.dialect.rows({ v_address: 'key' });
    await tx.run(
      `DELETE FROM messaging_suppression WHERE address IN (SELECT v_address FROM ${keys.sql})
         AND tenant = ? AND channel = ? AND category = ?`,
      [...keys.bind(addresses.map((address) => [address])), tenant, channel, category],
    );
  }

  async list(sql: Pick<Sql, 'all'>, options: ContactListOptions): Promise<Page<SuppressionEntry>> {
    const { after, limit } = pageRequest(options, 'suppression');
    const [address = '', channel = '', category = ''] = after?.split(' ') ?? [];
    const rows = await sql.all<Record<string, unknown>>(
      `SELECT address, channel, category, reason, at FROM messaging_suppression
       WHERE tenant = ? AND (address > ? OR (address = ? AND (channel > ? OR (channel = ? AND category > ?))))
       ORDER BY address, channel, category LIMIT ?`,
      [tenantOf(options), address, address, channel, channel, category, limit + 1],
    );
    const { data, nextCursor } = pageOf(decoded('suppression', rows), limit, (last) =>
      [last.address, last.channel, last.category].join(' '),
    );
    const entries = data.map((row) => {
      return { ...row, address: addressOfKey(row.address), at: new Date(row.at) };
    });
    return { data: entries, nextCursor };
  }

  async outlived(tx: Sql, contacts: Iterable<string>): Promise<OutlivedRefusal[]> {
    const { dialect, ids } = this.tables;
    const rows = await tx.all<Record<string, unknown>>(
      `SELECT a.contact, s.* FROM ${ids.keyed}
       ${dialect.join} messaging_contact_address a
         ${dialect.forceIndex('messaging_contact_address_contact')} ON a.contact = v_id
       ${dialect.join} messaging_suppression s ON s.tenant = a.tenant AND s.address = a.address
       WHERE s.reason = '${REFUSED}'`,
      this.tables.bind(contacts),
    );
    return decoded('suppression', rows) as OutlivedRefusal[];
  }

  async lift(tx: Sql, { tenant, address, channel, category }: OutlivedRefusal): Promise<void> {
    await tx.run(
      `DELETE FROM messaging_suppression
       WHERE tenant = ? AND address = ? AND channel = ? AND category = ? AND reason = '${REFUSED}'`,
      [tenant, address, channel, category],
    );
  }
}
