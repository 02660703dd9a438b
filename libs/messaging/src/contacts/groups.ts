import { randomInt } from 'node:crypto';
import type { AddressKind } from '../message/address.js';
import { type FieldError, MessageValidationError, MessagingError } from '../message/errors.js';
import type { Page } from '../message/views.js';
import type { Clock } from '../ports/clock.js';
import type { Sql } from '../store/database/store-database.js';
import type { Contact, ContactListOptions, ContactOptions, NewContact, Person } from './contact.js';
import {
  addressKeysOf,
  identitiesOf,
  invalid,
  isText,
  pageOf,
  pageRequest,
  tenantOf,
} from './contact-input.js';
import type { ContactStore } from './contact-store.js';
import { groupedBy } from './contact-tables.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Members read at most per allowed recipient, as groups may share members; more are refused. */
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

const SELECT = `SELECT g.id, g.name, g.created_at,
    (SELECT count(*) FROM messaging_group_member m WHERE m.group_id = g.id) AS size
  FROM messaging_contact_group g`;

/** Named contact lists. `send({ to: [group.id] })` uses each member's first suitable address. */
export class ContactGroups {
  constructor(
    private readonly store: ContactStore,
    private readonly clock: Clock,
  ) {}

  async create(name: string, options: ContactOptions = {}): Promise<ContactGroup> {
    checkName(name);
    const id = `grp_${Array.from({ length: 22 }, () => BASE62[randomInt(62)]).join('')}`;
    const now = this.clock.now();
    await this.store.write(options, (tx, tenant) =>
      this.store.tables.insert(tx, 'contact_group', [{ id, tenant, name, created_at: now }]),
    );
    return { id, name, size: 0, createdAt: new Date(now) };
  }

  /** @throws GroupNotFoundError */
  async find(id: string, options: ContactOptions = {}): Promise<ContactGroup> {
    const sql = this.store.reader(options);
    const tenant = tenantOf(options);
    const [row] = await sql.all<GroupRow>(`${SELECT} WHERE g.id = ? AND g.tenant = ?`, [
      id,
      tenant,
    ]);
    if (!row) throw new GroupNotFoundError(id);
    return viewOf(row);
  }

  /** Lists groups, ordered by id. */
  async list(options: ContactListOptions = {}): Promise<Page<ContactGroup>> {
    const { limit, after = '' } = pageRequest(options, 'group');
    const sql = this.store.reader(options);
    const rows = await sql.all<GroupRow>(
      `${SELECT} WHERE g.tenant = ? AND g.id > ? ORDER BY g.id LIMIT ?`,
      [tenantOf(options), after, limit + 1],
    );
    return pageOf(rows.map(viewOf), limit, ({ id }) => id);
  }

  /** @throws GroupNotFoundError */
  async rename(id: string, name: string, options: ContactOptions = {}): Promise<ContactGroup> {
    checkName(name);
    await this.#write(id, options, (tx) =>
      tx.run('UPDATE messaging_contact_group SET name = ? WHERE id = ?', [name, id]),
    );
    return this.find(id, options);
  }

  /** Members in the order of their contact ids, oldest first. @throws GroupNotFoundError */
  async members(id: string, options: ContactListOptions = {}): Promise<Page<Contact>> {
    await this.find(id, options);
    return this.store.page('group_member', id, options);
  }

  /** Adds people and creates missing contacts; existing members stay. @throws GroupNotFoundError */
  async add(
    id: string,
    people: readonly (Person | NewContact)[],
    options: ContactOptions = {},
  ): Promise<void> {
    const identities = identitiesOf(people, 'members');
    await this.store.write(options, async (tx, tenant) => {
      await this.#check(tx, id, tenant);
      // Contacts are locked before groups, in every transaction, to avoid deadlocks.
      const contacts = await this.store.resolve(tx, tenant, identities);
      await this.#check(tx, id, tenant, true);
      const members = [...new Set(contacts)].map((contact) => ({ group_id: id, contact }));
      await this.store.join(tx, members);
    });
  }

  /** Removes members; their contacts stay. @returns members removed @throws GroupNotFoundError */
  async remove(
    id: string,
    people: readonly Person[],
    options: ContactOptions = {},
  ): Promise<number> {
    const addresses = addressKeysOf(people, 'members');
    const { ids } = this.store.tables;
    return this.#write(id, options, async (tx, tenant) => {
      const found = await this.store.find(tx, tenant, addresses);
      return tx.run(
        `DELETE FROM messaging_group_member
         WHERE contact IN (SELECT v_id FROM ${ids.sql}) AND group_id = ?`,
        [...this.store.tables.bind(found.values()), id],
      );
    });
  }

  /** Deletes the group; its contacts stay. @throws GroupNotFoundError */
  async delete(id: string, options: ContactOptions = {}): Promise<void> {
    await this.#write(id, options, async (tx) => {
      await tx.run('DELETE FROM messaging_group_member WHERE group_id = ?', [id]);
      await tx.run('DELETE FROM messaging_contact_group WHERE id = ?', [id]);
    });
  }

  /**
   * One address key for each member with an address of `kinds`, by group; one query for all groups.
   * @param paths position of each id in the message, as `to[3]`
   * @param most recipients that the caller accepts; far larger groups are refused unread
   * @param kinds in order of preference
   * @throws MessageValidationError naming unknown groups, or `to` for far too many members
   */
  async expand(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    paths: ReadonlyMap<string, string>,
    most: number,
    kinds: readonly AddressKind[] = ['phone'],
  ): Promise<Map<string, string[]>> {
    const limit = MAX_OVERLAP * most + paths.size;
    const { dialect } = this.store.tables;
    const ids = dialect.rows({ v_key: 'key' });
    const rows = await sql.all<MemberAddressRow>(
      `SELECT id, contact, address, kind FROM (
         SELECT g.id, m.contact, a.address, a.kind, a.given_at
         FROM ${ids.sql} ${dialect.join} messaging_contact_group g ON g.id = v_key AND g.tenant = ?
         LEFT JOIN messaging_group_member m ON m.group_id = g.id
         LEFT JOIN messaging_contact_address a ON a.contact = m.contact
           AND a.kind IN (${kinds.map(() => '?').join(', ')}) LIMIT ?) AS members
       ORDER BY id, contact, given_at DESC, address`,
      [...ids.bind([...paths.keys()].map((id) => [id])), tenant, ...kinds, limit + 1],
    );
    if (rows.length > limit) throw invalid('to', `must name at most ${most} recipients`);
    const errors: FieldError[] = [];
    const groups = new Map<string, string[]>();
    const byId = groupedBy(rows, ({ id }) => id);
    for (const [id, path] of paths) {
      const own = byId.get(id) ?? [];
      if (own.length === 0) errors.push({ path, message: 'names a group that does not exist' });
      const first = new Map<string | null, string>();
      for (const kind of kinds)
        for (const { contact, address, kind: of } of own)
          if (of === kind && address !== null && !first.has(contact)) first.set(contact, address);
      groups.set(id, [...first.values()]);
    }
    if (errors.length > 0) throw new MessageValidationError(errors.slice(0, 10));
    return groups;
  }

  /** Runs `work` with the group locked. */
  #write<T>(
    id: string,
    options: ContactOptions,
    work: (tx: Sql, tenant: string) => Promise<T>,
  ): Promise<T> {
    return this.store.write(options, async (tx, tenant) => {
      await this.#check(tx, id, tenant, true);
      return work(tx, tenant);
    });
  }

  async #check(tx: Sql, id: string, tenant: string, lock = false): Promise<void> {
    const rows = await tx.all(
      `SELECT g.id FROM messaging_contact_group g WHERE g.id = ? AND g.tenant = ?
       ${lock ? this.store.tables.dialect.forUpdate('g') : ''}`,
      [id, tenant],
    );
    if (rows.length === 0) throw new GroupNotFoundError(id);
  }
}

/** Null: a group without members, or a member without a suitable address. */
interface MemberAddressRow {
  readonly id: string;
  readonly contact: string | null;
  readonly address: string | null;
  readonly kind: AddressKind | null;
}

function checkName(name: unknown): void {
  if (!isText(name, 255) || name.trim() === '')
    throw invalid('name', 'must be 1 to 255 characters');
}

function viewOf({ id, name, created_at, size }: GroupRow): ContactGroup {
  return { id, name, size: Number(size), createdAt: new Date(Number(created_at) / 1_000) };
}
