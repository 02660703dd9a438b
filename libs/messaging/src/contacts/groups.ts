import { randomInt } from 'node:crypto';
import type { AddressKind } from '../message/address.js';
import { MessagingError, validated } from '../message/errors.js';
import type { Page } from '../message/views.js';
import type { Clock } from '../ports/clock.js';
import type { Sql } from '../store/database/store-database.js';
import { pageOf } from '../store/reads/reads.js';
import type { Contact, ContactListOptions, ContactOptions, Person } from './contact.js';
import {
  addressKeysOf,
  checkText,
  identitiesOf,
  invalid,
  pageRequest,
  tenantOf,
} from './contact-input.js';
import type { ContactStore } from './contact-store.js';

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

type GroupRow = Record<'id' | 'name' | 'created_at' | 'size', string>;

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
    const where = 'WHERE g.id = ? AND g.tenant = ?';
    const [group] = await this.#read(where, [id, tenantOf(options)], options);
    if (!group) throw new GroupNotFoundError(id);
    return group;
  }

  /** Lists groups, ordered by id. */
  async list(options: ContactListOptions = {}): Promise<Page<ContactGroup>> {
    const { limit, after = '' } = pageRequest(options, 'group');
    const where = 'WHERE g.tenant = ? AND g.id > ? ORDER BY g.id LIMIT ?';
    const groups = await this.#read(where, [tenantOf(options), after, limit + 1], options);
    return pageOf(groups, limit, ({ id }) => id);
  }

  /** @throws GroupNotFoundError */
  async rename(id: string, name: string, options: ContactOptions = {}): Promise<ContactGroup> {
    checkName(name);
    const rename = 'UPDATE messaging_contact_group SET name = ? WHERE id = ? AND tenant = ?';
    await this.store.write(options, (tx, tenant) => tx.run(rename, [name, id, tenant]));
    return this.find(id, options);
  }

  /** Members in the order of their contact ids, oldest first. @throws GroupNotFoundError */
  async members(id: string, options: ContactListOptions = {}): Promise<Page<Contact>> {
    await this.find(id, options);
    return this.store.page('group_member', id, options);
  }

  /** Adds people and creates missing contacts; existing members stay. @throws GroupNotFoundError */
  async add(id: string, people: readonly Person[], options: ContactOptions = {}): Promise<void> {
    const identities = identitiesOf(people, 'members');
    await this.store.write(options, async (tx, tenant) => {
      // Contacts are locked before groups, in every transaction, to avoid deadlocks.
      const contacts = await this.store.resolve(tx, tenant, identities);
      await this.#lock(tx, id, tenant);
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
    return this.store.write(options, async (tx, tenant) => {
      await this.#lock(tx, id, tenant);
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
    await this.store.write(options, async (tx, tenant) => {
      await this.#lock(tx, id, tenant);
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
    const preference = ({ kind }: MemberAddressRow) => (kind === null ? -1 : kinds.indexOf(kind));
    const groups = new Map<string, Map<string | null, string>>();
    for (const { id, contact, address } of rows.sort((a, b) => preference(a) - preference(b))) {
      const members = groups.get(id) ?? new Map<string | null, string>();
      groups.set(id, members);
      if (address !== null && !members.has(contact)) members.set(contact, address);
    }
    validated((errors) => {
      for (const [id, path] of paths)
        if (!groups.has(id) && errors.length < 10)
          errors.push({ path, message: 'names a group that does not exist' });
    });
    return new Map([...groups].map(([id, members]) => [id, [...members.values()]]));
  }

  async #read(
    where: string,
    params: readonly unknown[],
    options: ContactOptions,
  ): Promise<ContactGroup[]> {
    const rows = await this.store.reader(options).all<GroupRow>(`${SELECT} ${where}`, params);
    return rows.map(({ id, name, created_at, size }) => {
      return { id, name, size: Number(size), createdAt: new Date(Number(created_at) / 1_000) };
    });
  }

  async #lock(tx: Sql, id: string, tenant: string): Promise<void> {
    const rows = await tx.all(
      `SELECT g.id FROM messaging_contact_group g WHERE g.id = ? AND g.tenant = ?
       ${this.store.tables.dialect.forUpdate('g')}`,
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

function checkName(name: string): void {
  validated((errors) => checkText(name, 'name', errors, { least: 1 }));
}
