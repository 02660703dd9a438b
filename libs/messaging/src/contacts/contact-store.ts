import { Inject, Injectable } from '@nestjs/common';
import { addressOfKey } from '../message/address.js';
import { addressIdentity } from '../message/phone-identity.js';
import type { Page } from '../message/views.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import type { Sql, StoreDatabase, Transaction } from '../store/database/store-database.js';
import { MessageStore } from '../store/message-store.js';
import { pageOf } from '../store/rows/cursor.js';
import type { KeyedDigests } from '../store/rows/keyed-digests.js';
import type { Erasures } from '../store/upkeep/erasure.js';
import { consentKey, consentOf, Consents } from './consent.js';
import type { Contact, ContactListOptions, ContactOptions } from './contact.js';
import { EVERY, type Identity, pageRequest, tenantOf } from './contact-input.js';
import { contactOf, ContactTables, groupedBy, type Row } from './contact-tables.js';
import { RecipientFactsReader } from './recipient-facts.js';
import { LearntNumbers } from './learnt-numbers.js';
import { Suppressions } from './suppressions.js';
import { type ClosedWindow, StoreListeners } from '../store/store-listeners.js';

/** Before the id of every contact. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** For messages whose number the provider chooses: inbound messages to any number count. */
const ANY_SENDER = '';
/** A day in microseconds. */
const WINDOW = 86_400_000_000;
/** Milliseconds between the times of two addresses that a person is given at once. */
const BETWEEN_ADDRESSES = 0.001;
/** Milliseconds at least between addresses of one call and those of the next. */
const BETWEEN_CALLS = 0.1;

/** An address of a contact; `written` is null where it is written as its identity. */
type KnownAddress = Pick<Row<'contact_address'>, 'contact' | 'written'>;

/** Tables with rows of a contact, in the order of deletion. */
const OWN_TABLES = [
  'group_member',
  'last_inbound',
  'inbound_text',
  'consent_history',
  'consent',
  'contact_address',
  'contact',
] as const;

/** The contacts of people who are looked up. */
interface FoundContacts {
  /** Contact of each address. */
  readonly rows: ReadonlyMap<string, string>;
  /** Names of locked contacts that were there before. */
  readonly before: ReadonlyMap<string, string | null>;
  /** Ids of contacts that are made for them. */
  readonly made: ReadonlySet<string>;
  /** Of two consents of merged contacts a refusal stays. */
  readonly keepsRefusals: boolean;
}

/**
 * Stores contacts by their addresses, many per statement. Every change of a contact, its addresses
 * included, holds the lock of the contact's row. An address leaves a contact only when the contact
 * is deleted. The order of locks is: new addresses in their order; contacts by id; groups by id.
 */
@Injectable()
export class ContactStore {
  readonly database: StoreDatabase;
  readonly tables: ContactTables;
  readonly digests: KeyedDigests;
  readonly erasures: Erasures;
  readonly suppressions: Suppressions;
  readonly consents: Consents;
  readonly learnt: LearntNumbers;
  #lastGiven = 0;

  constructor(
    @Inject(MessageStore) store: MessageStore,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(RecipientFactsReader) private readonly facts: RecipientFactsReader,
    @Inject(StoreListeners) listeners: StoreListeners,
  ) {
    const { database, digests, erasures } = store;
    this.database = database;
    this.tables = new ContactTables(database.dialect);
    this.digests = digests;
    this.erasures = erasures;
    this.suppressions = new Suppressions(this.tables, digests);
    this.consents = new Consents(this.tables, this.suppressions, () => clock.id());
    this.learnt = new LearntNumbers(database);
    listeners.add({
      onSuppressed: async (tx, suppressed) => {
        const at = clock.now();
        const rows = suppressed.map(({ category = EVERY, ...one }) => {
          return { ...one, category, at };
        });
        await this.suppressions.add(tx, rows);
        facts.wrote();
      },
      onWindowsClosed: (tx, closed) => this.#closeWindows(tx, closed),
    });
  }

  reader({ manager }: ContactOptions): Pick<Sql, 'all'> {
    return this.database.callersTransaction(manager) ?? this.database;
  }

  /** In the caller's transaction or a new one. @throws MessageValidationError on `tenant` */
  async write<T>(
    options: ContactOptions,
    work: (tx: Transaction, tenant: string) => Promise<T>,
  ): Promise<T> {
    const tenant = tenantOf(options);
    const { manager } = options;
    try {
      const tx = this.database.callersTransaction(manager);
      if (tx) return await work(tx, tenant);
      return await this.database.transaction((tx) => work(tx, tenant));
    } finally {
      this.facts.wrote();
    }
  }

  async page(
    table: 'contact' | 'group_member',
    scope: string,
    options: ContactListOptions,
  ): Promise<Page<Contact>> {
    const [id, of] = table === 'contact' ? ['id', 'tenant'] : ['contact', 'group_id'];
    const { limit, after = FIRST_ID } = pageRequest(options, 'uuid');
    const sql = this.reader(options);
    const rows = await sql.all<{ id: string }>(
      `SELECT ${id} AS id FROM messaging_${table} WHERE ${of} = ? AND ${id} > ? ORDER BY ${id} LIMIT ?`,
      [scope, after, limit + 1],
    );
    const { data, nextCursor } = pageOf(rows, limit, (last) => last.id);
    const ids = data.map((row) => row.id);
    return { data: await this.views(sql, ids), nextCursor };
  }

  /**
   * Locked ids in the order given. Creates missing contacts, merges those of one identity.
   * @param options.rewrite `false`: known addresses stay as the app wrote them
   * @param options.keepsRefusals of two consents of merged contacts a refusal stays
   */
  async resolve(
    tx: Sql,
    tenant: string,
    people: readonly Identity[],
    {
      rewrite = true,
      keepsRefusals = false,
    }: { readonly rewrite?: boolean; readonly keepsRefusals?: boolean } = {},
  ): Promise<string[]> {
    const made = new Set<string>();
    for (let again = false; ; again = true) {
      const found = await this.#make(tx, tenant, people, made, again);
      const rows = new Map([...found].map(([address, { contact }]) => [address, contact]));
      const existing = [...rows.values()].filter((id) => !made.has(id));
      const before = await this.#lock(tx, existing);
      // Repeat where a contact was erased or merged before its lock, or created after the snapshot.
      if (before && people.every(({ addresses }) => addresses.every((key) => rows.has(key)))) {
        const ids = await this.#settle(tx, tenant, people, {
          rows,
          before,
          made,
          keepsRefusals,
        });
        if (rewrite) await this.#rewrite(tx, tenant, people, ids, found);
        return ids;
      }
    }
  }

  /** @param addresses identities of address keys */
  async find(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    addresses: readonly string[],
    locked = false,
  ): Promise<Map<string, KnownAddress>> {
    if (addresses.length === 0) return new Map();
    const { dialect } = this.tables;
    const keys = dialect.rows({ v_key: 'key' });
    // A locking read sees the latest committed rows, even where the snapshot is older.
    const lock = locked ? `ORDER BY a.address ${dialect.forUpdate('a')}` : '';
    const rows = await sql.all<KnownAddress & Pick<Row<'contact_address'>, 'address'>>(
      `SELECT a.address, a.contact, a.written FROM ${keys.keyed} ${dialect.join} messaging_contact_address a
         ON a.address = v_key AND a.tenant = ? ${lock}`,
      [...keys.bind([...new Set(addresses)].sort().map((key) => [key])), tenant],
    );
    return new Map(rows.map(({ address, ...known }) => [address, known]));
  }

  async remove(tx: Sql, contacts: readonly string[]): Promise<void> {
    for (const table of OWN_TABLES) await this.tables.delete(tx, table, contacts);
  }

  /** Records times of inbound messages of locked contacts. A recorded time never decreases. */
  async recordInbound(tx: Sql, times: readonly Row<'last_inbound'>[]): Promise<void> {
    const latest = new Map<string, Row<'last_inbound'>>();
    for (const time of times.toSorted((one, other) => one.last_at - other.last_at))
      for (const sender of [time.sender, ANY_SENDER])
        latest.set(`${time.contact} ${sender}`, { ...time, sender });
    const { dialect } = this.tables;
    const last = dialect.greatest('messaging_last_inbound.last_at', 'new.last_at');
    const conflict = dialect.onConflict('contact, sender', `last_at = ${last}`);
    await this.tables.insert(tx, 'last_inbound', [...latest.values()], conflict);
  }

  /** Dates the last inbound message before the window; one that came after the refusal stays. */
  async #closeWindows(tx: Sql, closed: readonly ClosedWindow[]): Promise<void> {
    for (const { tenant, address, sender, at } of closed)
      await tx.run(
        `UPDATE messaging_last_inbound SET last_at = ?
         WHERE sender = ? AND last_at > ? AND last_at <= ? AND contact IN (
           SELECT contact FROM messaging_contact_address WHERE tenant = ? AND address = ?)`,
        [at - WINDOW, sender, at - WINDOW, at, tenant, addressIdentity(address)],
      );
  }

  async join(tx: Sql, members: readonly Row<'group_member'>[]): Promise<void> {
    const conflict = this.tables.dialect.ignoreConflict('messaging_group_member', 'contact');
    await this.tables.insert(tx, 'group_member', members, conflict);
  }

  /** In the order given, without erased contacts; five queries for any number of contacts. */
  async views(sql: Pick<Sql, 'all'>, ids: readonly string[]): Promise<Contact[]> {
    if (ids.length === 0) return [];
    const { tables } = this;
    const contacts = new Map((await tables.of(sql, 'contact', ids)).map((row) => [row.id, row]));
    const given = await tables.of(sql, 'contact_address', ids, 't.given_at DESC, t.address');
    const addresses = groupedBy(given, contactOf);
    const consents = groupedBy(await tables.of(sql, 'consent', ids), contactOf);
    const inbound = groupedBy(await tables.of(sql, 'last_inbound', ids), contactOf);
    const members = groupedBy(await tables.of(sql, 'group_member', ids, 't.group_id'), contactOf);
    return ids.flatMap((id): Contact | [] => {
      const contact = contacts.get(id);
      const own = (addresses.get(id) ?? []).map(({ address, written }) =>
        addressOfKey(written ?? address),
      );
      // Every contact has an address, unless it was erased between two of the queries.
      if (!contact || own.length === 0) return [];
      const first = (kind: string) => own.find((one) => one.kind === kind)?.value ?? null;
      return {
        id,
        tenant: contact.tenant,
        addresses: own,
        phone: first('phone'),
        email: first('email'),
        platform: first('platform'),
        name: contact.name,
        createdAt: new Date(contact.created_at),
        consents: Object.fromEntries(
          (consents.get(id) ?? []).map((row) => [consentKey(row), consentOf(row)]),
        ),
        lastInbound: Object.fromEntries(
          (inbound.get(id) ?? [])
            .filter(({ sender }) => sender !== ANY_SENDER)
            .map(({ sender, last_at }) => [sender, new Date(last_at)]),
        ),
        groups: (members.get(id) ?? []).map(({ group_id }) => group_id),
      };
    });
  }

  /** Makes the given addresses the first ones of their kind, in the order given. */
  async putFirst(
    tx: Sql,
    tenant: string,
    people: readonly Identity[],
    ids: readonly string[],
  ): Promise<void> {
    const rows = this.#given(tenant, people, ids);
    const conflict = this.tables.dialect.onConflict('tenant, address', 'given_at = new.given_at');
    await this.tables.insert(tx, 'contact_address', rows, conflict);
  }

  /** Keeps the form that the app wrote last: its messages are sent to it. */
  async #rewrite(
    tx: Sql,
    tenant: string,
    people: readonly Identity[],
    ids: readonly string[],
    known: ReadonlyMap<string, KnownAddress>,
  ): Promise<void> {
    const rows = this.#given(tenant, people, ids).filter(
      ({ address, written }) => known.get(address)?.written !== written,
    );
    const conflict = this.tables.dialect.onConflict('tenant, address', 'written = new.written');
    await this.tables.insert(tx, 'contact_address', rows, conflict);
  }

  /** Inserts new addresses, each person's with a contact id of its own for now. */
  async #make(
    tx: Sql,
    tenant: string,
    people: readonly Identity[],
    made: Set<string>,
    locked: boolean,
  ): Promise<Map<string, KnownAddress>> {
    const all = people.flatMap(({ addresses }) => addresses);
    const known = await this.find(tx, tenant, all, locked);
    const ids = people.map(() => this.clock.id());
    const given = this.#given(tenant, people, ids);
    const rows = given.filter(({ address }) => !known.has(address));
    if (rows.length === 0) return known;
    for (const { contact } of rows) made.add(contact);
    const conflict = this.tables.dialect.ignoreConflict('messaging_contact_address', 'kind');
    await this.tables.insert(tx, 'contact_address', rows, conflict);
    return this.find(tx, tenant, all, locked);
  }

  /**
   * The first given address of a person is the youngest, so that it comes first. What a later call gives
   * is younger, also in the same millisecond and after the clock was set back.
   */
  #given(
    tenant: string,
    people: readonly Identity[],
    ids: readonly string[],
  ): Row<'contact_address'>[] {
    this.#lastGiven = Math.max(this.clock.now(), this.#lastGiven + BETWEEN_CALLS);
    const now = this.#lastGiven;
    const rows = new Map<string, Row<'contact_address'>>();
    people.forEach(({ addresses, written }, index) =>
      addresses.forEach((address, n) => {
        if (rows.has(address)) return;
        const { kind } = addressOfKey(address);
        const contact = ids[index] as string;
        const form = written[n] === address ? null : (written[n] as string);
        rows.set(address, {
          tenant,
          address,
          kind,
          contact,
          given_at: now - n * BETWEEN_ADDRESSES,
          written: form,
        });
      }),
    );
    return [...rows.values()];
  }

  /** Locks contacts by id. @returns their names; `undefined`: a contact no longer exists */
  async #lock(
    tx: Sql,
    contacts: readonly string[],
  ): Promise<Map<string, string | null> | undefined> {
    if (contacts.length === 0) return new Map();
    const { dialect, ids } = this.tables;
    const rows = await tx.all<{ id: string; name: string | null }>(
      `SELECT c.id, c.name FROM ${ids.keyed}
       ${dialect.join} messaging_contact c ${dialect.forceIndex('PRIMARY')} ON c.id = v_id
       ORDER BY c.id ${dialect.forUpdate('c')}`,
      this.tables.bind(contacts),
    );
    if (rows.length < new Set(contacts).size) return undefined;
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Creates, merges and renames locked contacts until each identity has one contact. */
  async #settle(
    tx: Sql,
    tenant: string,
    people: readonly Identity[],
    { rows, before, made, keepsRefusals }: FoundContacts,
  ): Promise<string[]> {
    const contactsOf = ({ addresses }: Identity) =>
      addresses.map((address) => rows.get(address) as string);
    const target = oldestTogether(people.map(contactsOf), made);
    const ids = people.map((person) => target(contactsOf(person)[0] as string));
    const merged = [...rows.values()].filter((contact) => target(contact) !== contact).sort();
    const names = new Map(ids.map((id) => [id, before.get(id) ?? null]));
    for (const from of merged)
      names.set(target(from), names.get(target(from)) ?? before.get(from) ?? null);
    people.forEach(({ name }, n) => name !== undefined && names.set(ids[n] as string, name));
    if (merged.length > 0)
      await this.#move(
        tx,
        new Map(merged.map((from) => [from, target(from)])),
        before,
        keepsRefusals,
      );
    const created_at = this.clock.now();
    const changed = [...names].filter(([id, name]) => before.get(id) !== name);
    await this.tables.insert(
      tx,
      'contact',
      changed.map(([id, name]) => ({ id, tenant, name, created_at })),
      this.tables.dialect.onConflict('id', 'name = new.name'),
    );
    return ids;
  }

  /** Moves addresses, and all other rows of existing contacts, to the targets of a merge. */
  async #move(
    tx: Sql,
    moves: ReadonlyMap<string, string>,
    existing: ReadonlyMap<string, unknown>,
    keepsRefusals: boolean,
  ): Promise<void> {
    const { tables } = this;
    await tables.move(tx, 'contact_address', moves, 'messaging_contact_address_contact');
    const from = [...moves.keys()].filter((contact) => existing.has(contact));
    if (from.length === 0) return;
    const moved = <T extends { readonly contact: string }>(all: readonly T[]) =>
      all.map((row) => ({ ...row, contact: moves.get(row.contact) as string }));
    await tables.move(tx, 'consent_history', moves);
    await tables.move(tx, 'inbound_text', moves);
    const ofExisting = new Map([...moves].filter(([contact]) => existing.has(contact)));
    await this.consents.merge(tx, ofExisting, this.clock.now(), keepsRefusals);
    await this.recordInbound(tx, moved(await tables.of(tx, 'last_inbound', from)));
    const { dialect, ids } = tables;
    // Locks the groups, so that a group that is deleted concurrently gets no member.
    const joined = await tx.all<Row<'group_member'>>(
      `SELECT g.id AS group_id, m.contact FROM ${ids.keyed}
       ${dialect.join} messaging_group_member m ON m.contact = v_id
       ${dialect.join} messaging_contact_group g ON g.id = m.group_id
       ORDER BY g.id ${dialect.forUpdate('g')}`,
      this.tables.bind(from),
    );
    await this.join(tx, moved(joined));
    await this.remove(tx, from);
  }
}

/** Merge target of contacts linked by identities: the oldest existing one, else the first given. */
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
  const byAge = (a: string, b: string) =>
    Number(made.has(a)) - Number(made.has(b)) || (a < b ? -1 : 1);
  for (const contacts of together) {
    const [oldest, ...others] = [...new Set(contacts.map(target))].sort(byAge);
    for (const other of others) into.set(other, oldest as string);
  }
  return target;
}
