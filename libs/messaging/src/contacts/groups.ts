import { randomInt } from 'node:crypto';
import type { AddressKind } from '../message/address.js';
import { type FieldError, MessageValidationError, MessagingError } from '../message/errors.js';
import type { Page } from '../message/views.js';
import type { Clock } from '../ports/clock.js';
import { decodeCursor, encodeCursor } from '../store/rows/cursor.js';
import type { Sql, StoreDatabase } from '../store/database/store-database.js';
import type { Contact, ContactListOptions, ContactOptions, NewContact, Person } from './contact.js';
import {
  identitiesOf,
  invalid,
  isText,
  limitOf,
  readerOf,
  tenantOf,
  within,
} from './contact-input.js';
import type { ContactStore } from './contact-store.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/**
 * Most members that are read, as a multiple of the allowed recipients. A send with more members is
 * refused; groups may share members, so the sum may exceed the recipients.
 */
const MAX_OVERLAP = 4;

export interface ContactGroup {
  /** `grp_` and 22 base62 characters. */
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly createdAt: Date;
}

/** The tenant has no group with this id. */
export class GroupNotFoundError extends MessagingError {
  constructor(readonly groupId: string) {
    super('not_found', `No group ${groupId.slice(0, 64)}`);
  }
}

interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: string | number;
  readonly size: string | number;
}

/**
 * Named lists of contacts. `send({ to: [group.id] })` sends to the first suitable address of every
 * member.
 */
export class ContactGroups {
  readonly #keys;
  readonly #members;

  constructor(
    private readonly database: StoreDatabase,
    private readonly store: ContactStore,
    private readonly clock: Clock,
    private readonly onWrite: () => void,
  ) {
    this.#keys = database.dialect.rows({ v_key: 'key' });
    this.#members = database.dialect.rows({ v_group: 'key', v_contact: 'uuid' });
  }

  async create(name: string, options: ContactOptions = {}): Promise<ContactGroup> {
    const tenant = tenantOf(options);
    checkName(name);
    const id = `grp_${Array.from({ length: 22 }, () => BASE62[randomInt(62)]).join('')}`;
    const now = this.clock.now();
    await this.#in(options, (tx) =>
      tx.run(
        'INSERT INTO messaging_contact_group (id, tenant, name, created_at) VALUES (?, ?, ?, ?)',
        [id, tenant, name, now * 1_000],
      ),
    );
    return { id, name, size: 0, createdAt: new Date(now) };
  }

  /** @throws GroupNotFoundError */
  async find(id: string, options: ContactOptions = {}): Promise<ContactGroup> {
    const rows = await readerOf(this.database, options).all<GroupRow>(
      `${SELECT} WHERE g.id = ? AND g.tenant = ?`,
      [id, tenantOf(options)],
    );
    if (!rows[0]) throw new GroupNotFoundError(id);
    return viewOf(rows[0]);
  }

  /** Lists groups, ordered by id. */
  async list(options: ContactListOptions = {}): Promise<Page<ContactGroup>> {
    const { cursor } = options;
    const limit = limitOf(options);
    const after = cursor === undefined ? '' : decodeCursor(cursor, 'group');
    const rows = await readerOf(this.database, options).all<GroupRow>(
      `${SELECT} WHERE g.tenant = ? AND g.id > ? ORDER BY g.id LIMIT ?`,
      [tenantOf(options), after, limit + 1],
    );
    const page = rows.slice(0, limit);
    return {
      data: page.map(viewOf),
      nextCursor: rows.length > limit ? encodeCursor((page.at(-1) as GroupRow).id) : null,
    };
  }

  /** @throws GroupNotFoundError */
  async rename(id: string, name: string, options: ContactOptions = {}): Promise<ContactGroup> {
    const tenant = tenantOf(options);
    checkName(name);
    await this.#in(options, async (tx) => {
      await this.#lock(tx, id, tenant);
      await tx.run('UPDATE messaging_contact_group SET name = ? WHERE id = ?', [name, id]);
    });
    return this.find(id, options);
  }

  /** Members in the order of their contact ids, oldest first. @throws GroupNotFoundError */
  async members(id: string, options: ContactListOptions = {}): Promise<Page<Contact>> {
    await this.find(id, options);
    const { cursor } = options;
    const limit = limitOf(options);
    const sql = readerOf(this.database, options);
    const after = cursor === undefined ? [] : [decodeCursor(cursor, 'uuid')];
    const rows = await sql.all<{ contact: string }>(
      `SELECT m.contact FROM messaging_group_member m
       WHERE m.group_id = ? ${cursor === undefined ? '' : 'AND m.contact > ?'}
       ORDER BY m.contact LIMIT ?`,
      [id, ...after, limit + 1],
    );
    const ids = rows.slice(0, limit).map(({ contact }) => contact);
    const views = await this.store.views(sql, ids);
    return {
      data: ids.flatMap((contact) => views.get(contact) ?? []),
      nextCursor: rows.length > limit ? encodeCursor(ids.at(-1) as string) : null,
    };
  }

  /** Adds people and creates missing contacts; existing members stay. @throws GroupNotFoundError */
  async add(
    id: string,
    people: readonly (Person | NewContact)[],
    options: ContactOptions = {},
  ): Promise<void> {
    const identities = identitiesOf(people, 'members');
    const tenant = tenantOf(options);
    await this.#in(options, async (tx) => {
      await this.#check(tx, id, tenant);
      // Contacts are locked before groups, in every transaction, to avoid deadlocks.
      const contacts = await this.store.resolve(tx, tenant, identities);
      await this.#lock(tx, id, tenant);
      if (contacts.length === 0) return;
      await tx.run(
        `INSERT INTO messaging_group_member (group_id, contact)
         SELECT v_group, v_contact FROM ${this.#members.sql}
         WHERE 1 = 1 ${this.database.dialect.ignoreConflict('messaging_group_member', 'contact')}`,
        this.#members.bind([...new Set(contacts)].sort().map((contact) => [id, contact])),
      );
    });
  }

  /**
   * Removes members; their contacts stay.
   * @returns number of removed members
   * @throws GroupNotFoundError
   */
  async remove(
    id: string,
    people: readonly Person[],
    options: ContactOptions = {},
  ): Promise<number> {
    const identities = identitiesOf(people, 'members');
    const tenant = tenantOf(options);
    return this.#in(options, async (tx) => {
      await this.#lock(tx, id, tenant);
      const addresses = identities.flatMap((identity) => identity.addresses);
      const found = new Set((await this.store.find(tx, tenant, addresses)).values());
      if (found.size === 0) return 0;
      return tx.run(
        `DELETE FROM messaging_group_member
         WHERE contact IN (SELECT v_contact FROM ${this.#members.sql}) AND group_id = ?`,
        [...this.#members.bind([...found].map((contact) => [id, contact])), id],
      );
    });
  }

  /** Deletes the group; its contacts stay. @throws GroupNotFoundError */
  async delete(id: string, options: ContactOptions = {}): Promise<void> {
    const tenant = tenantOf(options);
    await this.#in(options, async (tx) => {
      await this.#lock(tx, id, tenant);
      await tx.run('DELETE FROM messaging_group_member WHERE group_id = ?', [id]);
      await tx.run('DELETE FROM messaging_contact_group WHERE id = ?', [id]);
    });
  }

  /**
   * One address key for each member with an address of `kinds`, by group; one query for all groups.
   * @param paths position of each id in the message, as `to[3]`
   * @param most largest number of recipients the caller accepts; far larger groups are refused
   *   before the members are read
   * @param kinds in order of preference
   * @throws MessageValidationError naming the groups that do not exist, or `to` for far too many
   *   members
   */
  async expand(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    paths: ReadonlyMap<string, string>,
    most: number,
    kinds: readonly AddressKind[] = ['phone'],
  ): Promise<Map<string, string[]>> {
    const limit = MAX_OVERLAP * most + paths.size;
    const { join } = this.database.dialect;
    const rows = await sql.all<MemberAddressRow>(
      `SELECT id, contact, address, kind FROM (
         SELECT g.id, m.contact, a.address, a.kind, a.given_at
         FROM ${this.#keys.sql} ${join} messaging_contact_group g ON g.id = v_key AND g.tenant = ?
         LEFT JOIN messaging_group_member m ON m.group_id = g.id
         LEFT JOIN messaging_contact_address a ON a.contact = m.contact
           AND a.kind IN (${kinds.map(() => '?').join(', ')}) LIMIT ?) AS members
       ORDER BY id, contact, given_at DESC, address`,
      [...this.#keys.bind([...paths.keys()].map((id) => [id])), tenant, ...kinds, limit + 1],
    );
    if (rows.length > limit) throw invalid('to', `must name at most ${most} recipients`);
    const groups = membersOf(rows, kinds);
    const errors: FieldError[] = [];
    for (const [id, path] of paths)
      if (!groups.has(id)) errors.push({ path, message: 'names a group that does not exist' });
    if (errors.length > 0) throw new MessageValidationError(errors.slice(0, 10));
    return groups;
  }

  async #lock(tx: Sql, id: string, tenant: string): Promise<void> {
    await this.#check(tx, id, tenant, this.database.dialect.forUpdate('g'));
  }

  async #check(tx: Sql, id: string, tenant: string, lock = ''): Promise<void> {
    const rows = await tx.all(
      `SELECT g.id FROM messaging_contact_group g WHERE g.id = ? AND g.tenant = ? ${lock}`,
      [id, tenant],
    );
    if (rows.length === 0) throw new GroupNotFoundError(id);
  }

  async #in<T>(options: ContactOptions, work: (tx: Sql) => Promise<T>): Promise<T> {
    try {
      return await within(this.database, options, work);
    } finally {
      this.onWrite();
    }
  }
}

interface MemberAddressRow {
  readonly id: string;
  readonly contact: string | null;
  readonly address: string | null;
  readonly kind: AddressKind | null;
}

/**
 * Takes the first address of the most preferred kind of each member; the query orders the rows,
 * except by kind.
 */
function membersOf(
  rows: readonly MemberAddressRow[],
  kinds: readonly AddressKind[],
): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  let last: MemberAddressRow | undefined;
  for (const row of rows) {
    const members = groups.get(row.id) ?? [];
    groups.set(row.id, members);
    if (row.address === null || row.kind === null) continue;
    if (last?.id !== row.id || last.contact !== row.contact) members.push(row.address);
    else if (kinds.indexOf(row.kind) < kinds.indexOf(last.kind as AddressKind))
      members[members.length - 1] = row.address;
    else continue;
    last = row;
  }
  return groups;
}

const SELECT = `SELECT g.id, g.name, g.created_at,
    (SELECT count(*) FROM messaging_group_member m WHERE m.group_id = g.id) AS size
  FROM messaging_contact_group g`;

function checkName(name: unknown): void {
  if (!isText(name, 255) || name.trim() === '')
    throw invalid('name', 'must be 1 to 255 characters');
}

function viewOf({ id, name, created_at, size }: GroupRow): ContactGroup {
  return { id, name, size: Number(size), createdAt: new Date(Number(created_at) / 1_000) };
}
