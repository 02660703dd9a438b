import type { Dialect } from '../store/dialect.js';
import type { Sql } from '../store/store-database.js';
import { type ConsentRow, consentOf } from './consents.js';
import type { Contact } from './contact.js';
import type { ContactRow } from './contact-store.js';
import { ANY_SENDER } from './inbound-times.js';

type Building = Omit<Contact, 'consents' | 'lastInbound' | 'groups'> & {
  consents: Record<string, ReturnType<typeof consentOf>>;
  lastInbound: Record<string, Date>;
  groups: string[];
};

/** Contacts with all that hangs on them: four queries for any number. */
export class ContactViews {
  readonly #ids;

  constructor(private readonly dialect: Dialect) {
    this.#ids = dialect.rows({ v_id: 'uuid' });
  }

  async byIds(sql: Pick<Sql, 'all'>, ids: readonly string[]): Promise<Map<string, Contact>> {
    const views = new Map<string, Building>();
    if (ids.length === 0) return views;
    const bound = this.#ids.bind([...new Set(ids)].map((id) => [id]));
    const select = <T>(columns: string, table: string, key: string) =>
      sql.all<T>(
        `SELECT ${columns} FROM ${this.#ids.sql} ${this.dialect.join} messaging_${table} t ON t.${key} = v_id`,
        bound,
      );
    for (const row of await select<ContactRow>('t.*', 'contact', 'id'))
      views.set(row.id, {
        id: row.id,
        tenant: row.tenant,
        phone: row.phone,
        bsuid: row.bsuid,
        name: row.name,
        createdAt: new Date(Number(row.created_at) / 1_000),
        consents: {},
        lastInbound: {},
        groups: [],
      });
    for (const row of await select<ConsentRow>('t.*', 'consent', 'contact'))
      (views.get(row.contact) as Building).consents[row.channel] = consentOf(row);
    for (const row of await select<{ contact: string; sender: string; last_at: string | number }>(
      't.*',
      'inbound',
      'contact',
    ))
      if (row.sender !== ANY_SENDER)
        (views.get(row.contact) as Building).lastInbound[row.sender] = new Date(
          Number(row.last_at) / 1_000,
        );
    for (const row of await select<{ contact: string; group_id: string }>(
      't.*',
      'group_member',
      'contact',
    ))
      (views.get(row.contact) as Building).groups.push(row.group_id);
    return views;
  }
}
