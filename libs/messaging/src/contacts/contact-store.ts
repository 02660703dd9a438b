import { addressOfKey } from '../message/address.js';
import type { Clock } from '../ports/clock.js';
import type { Columns, Dialect } from '../store/database/dialect.js';
import type { Sql } from '../store/database/store-database.js';
import { type ConsentRow, consentKey, consentOf, Consents } from './consent.js';
import type { Contact } from './contact.js';
import type { Identity } from './contact-input.js';
import { ANY_SENDER, LastInbound } from './last-inbound.js';

interface AddressRow {
  readonly address: string;
  readonly contact: string;
  readonly given_at: string | number;
  /** Time at which the youngest address of this contact and kind was given. */
  readonly newest: string | number;
}

const CONTACT = {
  v_id: 'uuid',
  v_tenant: 'key',
  v_name: 'key',
  v_at: 'bigint',
} as const satisfies Columns;
const ADDRESS = {
  v_tenant: 'key',
  v_address: 'key',
  v_kind: 'key',
  v_contact: 'uuid',
  v_at: 'bigint',
} as const satisfies Columns;

/** Tables with rows of a contact, in the order of deletion. */
const PARTS = ['group_member', 'last_inbound', 'consent_history', 'consent', 'contact_address'];

/**
 * Stores contacts by their addresses, many per statement. Every change of a contact, its addresses
 * included, holds the lock of the contact's row. An address leaves a contact only when the contact
 * is deleted. The order of locks is: new addresses in their order; contacts by id; groups by id.
 */
export class ContactStore {
  readonly consents: Consents;
  readonly inbound: LastInbound;
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(
    private readonly dialect: Dialect,
    private readonly clock: Clock,
  ) {
    this.#sql = statementsFor(dialect);
    this.consents = new Consents(dialect, () => clock.id());
    this.inbound = new LastInbound(dialect);
  }

  /**
   * Contact ids in the order given, each contact locked. Creates missing contacts. Where one
   * identity names several contacts, they are merged into the oldest.
   */
  async resolve(tx: Sql, tenant: string, people: readonly Identity[]): Promise<string[]> {
    if (people.length === 0) return [];
    const made = new Set<string>();
    for (let again = false; ; again = true) {
      const rows = await this.#make(tx, tenant, people, made, again);
      const existing = [...rows.values()].flatMap(({ contact }) =>
        made.has(contact) ? [] : [contact],
      );
      const names = rows.size > 0 && (await this.#lock(tx, existing));
      // Repeat where a contact was erased or merged before its lock, or was created after the
      // snapshot.
      if (names && people.every(({ addresses }) => addresses.every((key) => rows.has(key))))
        return this.#settle(tx, tenant, people, rows, names, made);
    }
  }

  /** Ids of the existing contacts with these addresses. */
  async find(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    addresses: readonly string[],
  ): Promise<Map<string, string>> {
    const rows = await this.#addresses(sql, tenant, addresses, false);
    return new Map([...rows].map(([address, { contact }]) => [address, contact]));
  }

  /** Like {@link find}, and locks each contact. */
  async hold(tx: Sql, tenant: string, addresses: readonly string[]): Promise<Map<string, string>> {
    for (let again = false; ; again = true) {
      const rows = await this.#addresses(tx, tenant, addresses, again);
      const found = new Map([...rows].map(([address, { contact }]) => [address, contact]));
      if (await this.#lock(tx, [...found.values()])) return found;
    }
  }

  /** Addresses of contacts. */
  async addressesOf(tx: Pick<Sql, 'all'>, contacts: readonly string[]): Promise<string[]> {
    const { ids, addressesOf } = this.#sql;
    const rows = await tx.all<{ address: string }>(
      addressesOf,
      ids.bind(contacts.map((id) => [id])),
    );
    return rows.map(({ address }) => address);
  }

  /** Deletes locked contacts with all their rows. */
  async remove(tx: Sql, contacts: readonly string[]): Promise<void> {
    if (contacts.length === 0) return;
    const { ids, removals } = this.#sql;
    const bound = ids.bind([...contacts].sort().map((id) => [id]));
    for (const removal of removals) await tx.run(removal, bound);
  }

  /**
   * Contacts with addresses, consent, groups and inbound times: five queries for any number of
   * contacts.
   */
  async views(sql: Pick<Sql, 'all'>, contacts: readonly string[]): Promise<Map<string, Contact>> {
    const views = new Map<string, ContactBuilding>();
    if (contacts.length === 0) return views;
    const { ids, parts } = this.#sql;
    const bound = ids.bind([...new Set(contacts)].map((id) => [id]));
    const rowsOf = <T>(table: keyof typeof parts) => sql.all<T>(parts[table], bound);
    for (const row of await rowsOf<ContactRow>('contact')) views.set(row.id, newView(row));
    // A contact that is erased between two of the queries is missing from the later ones.
    const of = (id: string) => views.get(id) ?? newView();
    for (const row of await rowsOf<AddressRow>('contact_address')) {
      const [view, address] = [of(row.contact), addressOfKey(row.address)];
      view.addresses.push(address);
      view[address.kind] ??= address.value;
    }
    for (const row of await rowsOf<ConsentRow>('consent'))
      of(row.contact).consents[consentKey(row)] = consentOf(row);
    for (const row of await rowsOf<InboundRow>('last_inbound'))
      if (row.sender !== ANY_SENDER)
        of(row.contact).lastInbound[row.sender] = new Date(Number(row.last_at) / 1_000);
    for (const row of await rowsOf<MemberRow>('group_member'))
      of(row.contact).groups.push(row.group_id);
    return views;
  }

  /** Inserts new addresses, each with a contact id of its own for now. */
  async #make(
    tx: Sql,
    tenant: string,
    people: readonly Identity[],
    made: Set<string>,
    locked: boolean,
  ): Promise<Map<string, AddressRow>> {
    const all = people.flatMap(({ addresses }) => addresses);
    const known = await this.#addresses(tx, tenant, all, locked);
    const at = this.clock.now() * 1_000;
    const rows = new Map<string, unknown[]>();
    for (const { addresses } of people)
      addresses.forEach((address, n) => {
        if (known.has(address) || rows.has(address)) return;
        const id = this.clock.id();
        made.add(id);
        // Of two new addresses of one kind, the first given gets the later time, so that it is the
        // contact's first.
        rows.set(address, [tenant, address, addressOfKey(address).kind, id, at - n]);
      });
    if (rows.size === 0) return known;
    const { addresses, insertAddresses } = this.#sql;
    const sorted = [...rows.keys()].sort().map((address) => rows.get(address) as unknown[]);
    await tx.run(insertAddresses, addresses.bind(sorted));
    return this.#addresses(tx, tenant, all, locked);
  }

  /**
   * @param locked reads the latest committed rows, also where the transaction has an older snapshot
   */
  async #addresses(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    addresses: readonly string[],
    locked: boolean,
  ): Promise<Map<string, AddressRow>> {
    if (addresses.length === 0) return new Map();
    const { keys, found } = this.#sql;
    const bound = keys.bind([...new Set(addresses)].sort().map((key) => [key]));
    const rows = await sql.all<AddressRow>(locked ? found.locked : found.plain, [...bound, tenant]);
    return new Map(rows.map((row) => [row.address, row]));
  }

  /**
   * Locks contacts in the order of their ids. @returns their names; `undefined`: a contact no
   * longer exists
   */
  async #lock(
    tx: Sql,
    contacts: readonly string[],
  ): Promise<Map<string, string | null> | undefined> {
    const wanted = [...new Set(contacts)].sort();
    if (wanted.length === 0) return new Map();
    const { ids, lock } = this.#sql;
    const rows = await tx.all<{ id: string; name: string | null }>(
      lock,
      ids.bind(wanted.map((id) => [id])),
    );
    return rows.length < wanted.length ? undefined : new Map(rows.map((row) => [row.id, row.name]));
  }

  /** Creates, merges and updates locked contacts until each identity has one contact. */
  async #settle(
    tx: Sql,
    tenant: string,
    people: readonly Identity[],
    rows: ReadonlyMap<string, AddressRow>,
    names: Map<string, string | null>,
    made: ReadonlySet<string>,
  ): Promise<string[]> {
    const contactOf = (address: string) => (rows.get(address) as AddressRow).contact;
    const target = oldestTogether(
      people.map(({ addresses }) => addresses.map(contactOf)),
      made,
    );
    const moves = new Map<string, string>();
    for (const { contact } of rows.values())
      if (target(contact) !== contact) moves.set(contact, target(contact));
    if (moves.size > 0) await this.#move(tx, moves, names);
    const ids = people.map(({ addresses }) => target(contactOf(addresses[0] as string)));
    await this.#write(tx, tenant, people, ids, names);
    return ids;
  }

  /** Makes the first given address of each kind the contact's first address of that kind. */
  async putFirst(tx: Sql, tenant: string, people: readonly Identity[]): Promise<void> {
    const all = people.flatMap(({ addresses }) => addresses);
    const rows = await this.#addresses(tx, tenant, all, false);
    const at = this.clock.now() * 1_000;
    const moved = new Map<string, unknown[]>();
    for (const { addresses } of people) {
      const kinds = new Set<string>();
      for (const address of addresses) {
        const { kind } = addressOfKey(address);
        const row = rows.get(address);
        if (row && !kinds.has(kind) && Number(row.given_at) < Number(row.newest))
          moved.set(address, [tenant, address, kind, row.contact, at]);
        kinds.add(kind);
      }
    }
    const { touch, addresses } = this.#sql;
    if (moved.size > 0) await tx.run(touch, addresses.bind([...moved.values()]));
  }

  /**
   * Moves addresses, and for existing contacts all other rows, to the target contacts of a merge.
   */
  async #move(
    tx: Sql,
    moves: ReadonlyMap<string, string>,
    names: Map<string, string | null>,
  ): Promise<void> {
    const { moves: source, moveAddresses, ids, groups, members, insertMembers } = this.#sql;
    await tx.run(moveAddresses, source.bind([...moves]));
    const merged = new Map([...moves].filter(([from]) => names.has(from)));
    if (merged.size === 0) return;
    await this.consents.move(tx, merged, this.clock.now());
    await this.inbound.move(tx, merged);
    const from = ids.bind([...merged.keys()].map((id) => [id]));
    // Locks the groups, so that a group that is deleted concurrently gets no member.
    const joined = await tx.all<MemberRow>(groups, from);
    const rows = joined.map(({ group_id, contact }) => [group_id, merged.get(contact)]);
    if (rows.length > 0) await tx.run(insertMembers, members.bind(rows));
    for (const id of [...merged.keys()].sort()) {
      const [to, name] = [merged.get(id) as string, names.get(id)];
      if (names.get(to) !== null || !name) continue;
      names.set(to, name);
      await this.#rename(tx, [[to, name]]);
    }
    await this.remove(tx, [...merged.keys()]);
  }

  /** Inserts new contacts, and renames existing ones where a name is given. */
  async #write(
    tx: Sql,
    tenant: string,
    people: readonly Identity[],
    ids: readonly string[],
    names: ReadonlyMap<string, string | null>,
  ): Promise<void> {
    const given = new Map<string, string | undefined>();
    people.forEach(({ name }, n) => {
      const id = ids[n] as string;
      given.set(id, name ?? given.get(id));
    });
    const at = this.clock.now() * 1_000;
    const { contacts, insert } = this.#sql;
    const fresh = [...given].filter(([id]) => !names.has(id));
    if (fresh.length > 0)
      await tx.run(
        insert,
        contacts.bind(fresh.map(([id, name]) => [id, tenant, name ?? null, at])),
      );
    await this.#rename(
      tx,
      [...given].flatMap(([id, name]): [string, string][] =>
        name !== undefined && names.has(id) && names.get(id) !== name ? [[id, name]] : [],
      ),
    );
  }

  async #rename(tx: Sql, names: readonly [id: string, name: string][]): Promise<void> {
    const { contacts, rename } = this.#sql;
    const at = this.clock.now() * 1_000;
    if (names.length > 0)
      await tx.run(rename, contacts.bind(names.map(([id, name]) => [id, '', name, at])));
  }
}

/**
 * Groups contacts that share an identity, directly or through other contacts.
 * @returns the merge target of each contact: the oldest existing one, else the first given
 */
function oldestTogether(
  together: readonly (readonly string[])[],
  made: ReadonlySet<string>,
): (contact: string) => string {
  const into = new Map<string, string>();
  const target = (contact: string): string => {
    const next = into.get(contact);
    return next === undefined ? contact : target(next);
  };
  // UUIDv7 ids sort by age.
  const older = (a: string, b: string) => (made.has(a) === made.has(b) ? a < b : made.has(b));
  for (const [first, ...others] of together)
    for (const other of others) {
      const [a, b] = [target(first as string), target(other)];
      if (a !== b) into.set(...(older(a, b) ? ([b, a] as const) : ([a, b] as const)));
    }
  return target;
}

interface ContactRow {
  readonly id: string;
  readonly tenant: string;
  readonly name: string | null;
  readonly created_at: string | number;
}

interface InboundRow {
  readonly contact: string;
  readonly sender: string;
  readonly last_at: string | number;
}

interface MemberRow {
  readonly contact: string;
  readonly group_id: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type ContactBuilding = Mutable<
  Omit<Contact, 'addresses' | 'consents' | 'lastInbound' | 'groups'>
> & {
  addresses: Contact['addresses'][number][];
  consents: Record<string, Contact['consents'][string]>;
  lastInbound: Record<string, Date>;
  groups: string[];
};

function newView(row?: ContactRow): ContactBuilding {
  return {
    id: row?.id ?? '',
    tenant: row?.tenant ?? '',
    addresses: [],
    phone: null,
    email: null,
    platform: null,
    name: row?.name ?? null,
    createdAt: new Date(Number(row?.created_at ?? 0) / 1_000),
    consents: {},
    lastInbound: {},
    groups: [],
  };
}

function statementsFor(dialect: Dialect) {
  const [keys, ids] = [dialect.rows({ v_key: 'key' }), dialect.rows({ v_id: 'uuid' })];
  const [contacts, addresses] = [dialect.rows(CONTACT), dialect.rows(ADDRESS)];
  const moves = dialect.rows({ v_from: 'uuid', v_to: 'uuid' });
  const members = dialect.rows({ v_group: 'key', v_contact: 'uuid' });
  const found = `SELECT a.address, a.contact, a.given_at,
      (SELECT max(o.given_at) FROM messaging_contact_address o
       WHERE o.contact = a.contact AND o.kind = a.kind) AS newest
    FROM ${keys.keyed} ${dialect.join} messaging_contact_address a ON a.address = v_key AND a.tenant = ?`;
  const part = (table: string, order: string) =>
    `SELECT t.* FROM ${ids.sql} ${dialect.join} messaging_${table} t ON t.contact = v_id ORDER BY ${order}`;
  return {
    keys,
    ids,
    contacts,
    addresses,
    moves,
    members,
    found: {
      plain: found,
      locked: `${found} ORDER BY a.address ${dialect.forUpdate('a')}`,
    },
    lock: `SELECT c.id, c.name FROM ${ids.sql}
      ${dialect.join} messaging_contact c ${dialect.forceIndex('PRIMARY')} ON c.id = v_id
      ORDER BY c.id ${dialect.forUpdate('c')}`,
    insertAddresses: `INSERT INTO messaging_contact_address (tenant, address, kind, contact, given_at)
      SELECT v_tenant, v_address, v_kind, v_contact, v_at FROM ${addresses.sql} WHERE 1 = 1
      ${dialect.ignoreConflict('messaging_contact_address', 'kind')}`,
    insert: `INSERT INTO messaging_contact (id, tenant, name, created_at, updated_at)
      SELECT v_id, v_tenant, v_name, v_at, v_at FROM ${contacts.sql}`,
    rename: dialect.updateFrom({
      table: 'messaging_contact',
      rows: contacts,
      set: 'name = v_name, updated_at = v_at',
      where: 'messaging_contact.id = v_id',
    }),
    touch: dialect.updateFrom({
      table: 'messaging_contact_address',
      rows: addresses,
      set: 'given_at = v_at',
      where:
        'messaging_contact_address.tenant = v_tenant AND messaging_contact_address.address = v_address',
    }),
    moveAddresses: dialect.updateFrom({
      table: 'messaging_contact_address',
      rows: moves,
      set: 'contact = v_to',
      where: 'messaging_contact_address.contact = v_from',
      index: 'messaging_contact_address_contact',
    }),
    groups: `SELECT g.id AS group_id, m.contact FROM ${ids.sql}
      ${dialect.join} messaging_group_member m ON m.contact = v_id
      ${dialect.join} messaging_contact_group g ON g.id = m.group_id
      ORDER BY g.id ${dialect.forUpdate('g')}`,
    insertMembers: `INSERT INTO messaging_group_member (group_id, contact)
      SELECT v_group, v_contact FROM ${members.sql} WHERE 1 = 1
      ${dialect.ignoreConflict('messaging_group_member', 'contact')}`,
    addressesOf: `SELECT a.address FROM ${ids.sql}
      ${dialect.join} messaging_contact_address a ON a.contact = v_id`,
    removals: [
      ...PARTS.map((table) => dialect.deleteFrom(`messaging_${table}`, 'contact', ids)),
      dialect.deleteFrom('messaging_contact', 'id', ids),
    ],
    parts: {
      contact: `SELECT t.* FROM ${ids.sql} ${dialect.join} messaging_contact t ON t.id = v_id`,
      contact_address: part('contact_address', 't.given_at DESC, t.address'),
      consent: part('consent', 't.channel, t.category'),
      last_inbound: part('last_inbound', 't.sender'),
      group_member: part('group_member', 't.group_id'),
    },
  };
}
