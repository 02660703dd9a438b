import { randomInt } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { AddressKind } from '../message/address.js';
import { MessagingError, validated } from '../message/errors.js';
import type { Page } from '../message/views.js';
import type { Clock } from '../ports/clock.js';
import type { Sql } from '../store/database/store-database.js';
import { pageOf } from '../store/rows/cursor.js';
import type { Contact, ContactListOptions, ContactOptions, Person } from './contact.js';
import {
  addressKeysOf,
  checkText,
  identitiesOf,
  invalid,
  pageRequest,
  tenantOf,
} from './contact-input.js';
import { type ContactStore, FIRST_ID } from './contact-store.js';
import { contactOf } from './contact-tables.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Members read at most per allowed recipient, as groups may share members; more are refused. */
const MAX_OVERLAP = 4;
/** Members read together. */
const PAGE = 1_000;

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

/** Groups whose members one statement counts. */
const COUNTED = 5;

type GroupRow = Record<'id' | 'name' | 'created_at', string>;

/** Named contact lists. `send({ to: [group.id] })` uses each member's first suitable address. */
export class ContactGroups {
  /** @internal */
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
    await this.#inPages(identitiesOf(people, 'members'), options, async (page, tx, tenant) => {
      // Contacts are locked before groups, in every transaction, to avoid deadlocks.
      const contacts = await this.store.resolve(tx, tenant, page);
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
    const { ids } = this.store.tables;
    let removed = 0;
    await this.#inPages(addressKeysOf(people, 'members'), options, async (page, tx, tenant) => {
      await this.#lock(tx, id, tenant);
      const found = await this.store.find(tx, tenant, page);
      removed += await tx.run(
        `DELETE FROM messaging_group_member
         WHERE contact IN (SELECT v_id FROM ${ids.sql}) AND group_id = ?`,
        [...this.store.tables.bind([...found.values()].map(contactOf)), id],
      );
    });
    return removed;
  }

  /** Deletes the group; its contacts stay. @throws GroupNotFoundError */
  async delete(id: string, options: ContactOptions = {}): Promise<void> {
    for (let hasMore = true; hasMore; await turn())
      hasMore = await this.store.write(options, async (tx, tenant) => {
        await this.#lock(tx, id, tenant);
        const [last] = await tx.all<{ readonly contact: string }>(
          `SELECT contact FROM messaging_group_member WHERE group_id = ?
           ORDER BY contact LIMIT 1 OFFSET ?`,
          [id, PAGE],
        );
        const page = last ? ' AND contact < ?' : '';
        const members = [id, ...(last ? [last.contact] : [])];
        await tx.run(`DELETE FROM messaging_group_member WHERE group_id = ?${page}`, members);
        if (!last) await tx.run('DELETE FROM messaging_contact_group WHERE id = ?', [id]);
        return last !== undefined;
      });
  }

  /** A transaction for each page, unless the caller has one. */
  async #inPages<T>(
    all: readonly T[],
    options: ContactOptions,
    work: (page: readonly T[], tx: Sql, tenant: string) => Promise<void>,
  ): Promise<void> {
    for (let from = 0; from === 0 || from < all.length; from += PAGE) {
      const page = all.slice(from, from + PAGE);
      await this.store.write(options, (tx, tenant) => work(page, tx, tenant));
      await turn();
    }
  }

  /**
   * @internal
   * One address key for each member with an address of `kinds`, by group. Pages leave the event loop
   * free, which a SQLite statement blocks.
   * @param paths position of each id in the message, as `to[3]`
   * @param most recipients that the caller accepts; far larger groups are not read to their end
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
    await this.#requireAll(sql, tenant, paths);
    const groups = new Map<string, string[]>();
    let left = MAX_OVERLAP * most;
    for (const id of paths.keys()) {
      const keys: string[] = [];
      for (let after: string | undefined = FIRST_ID; after !== undefined;) {
        const members: Map<string, string | null> = await this.#page(sql, id, after, kinds);
        for (const key of members.values()) if (key !== null) keys.push(key);
        left -= members.size;
        if (left < 0) throw invalid('to', `must name at most ${most} recipients`);
        after = members.size < PAGE ? undefined : [...members.keys()].at(-1);
        await turn();
      }
      groups.set(id, keys);
    }
    return groups;
  }

  /**
   * The address of each member that a send to these groups would use.
   * @param paths the groups, with the field that names each
   * @throws MessageValidationError naming unknown groups, and for more than `most` recipients
   */
  async addressesOf(
    paths: ReadonlyMap<string, string>,
    {
      tenant = '',
      most,
      kinds,
    }: Pick<ContactOptions, 'tenant'> & {
      readonly most: number;
      readonly kinds: readonly AddressKind[];
    },
  ): Promise<string[]> {
    const members = await this.expand(this.store.database, tenant, paths, most, kinds);
    return [...members.values()].flat();
  }

  async #requireAll(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    paths: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { dialect } = this.store.tables;
    const ids = dialect.rows({ v_key: 'key' });
    const rows = await sql.all<{ readonly id: string }>(
      `SELECT g.id FROM ${ids.sql} ${dialect.join} messaging_contact_group g
         ON g.id = v_key AND g.tenant = ?`,
      [...ids.bind([...paths.keys()].map((id) => [id])), tenant],
    );
    const found = new Set(rows.map(({ id }) => id));
    validated((errors) => {
      for (const [id, path] of paths)
        if (!found.has(id) && errors.length < 10)
          errors.push({ path, message: 'names a group that does not exist' });
    });
  }

  /** Members after `after` in the order of their ids, with the address of the preferred kind. */
  async #page(
    sql: Pick<Sql, 'all'>,
    group: string,
    after: string,
    kinds: readonly AddressKind[],
  ): Promise<Map<string, string | null>> {
    const rows = await sql.all<MemberAddressRow>(
      `SELECT m.contact, coalesce(a.written, a.address) AS address, a.kind FROM (
         SELECT contact FROM messaging_group_member WHERE group_id = ? AND contact > ?
         ORDER BY contact LIMIT ?) AS m
       LEFT JOIN messaging_contact_address a ON a.contact = m.contact
         AND a.kind IN (${kinds.map(() => '?').join(', ')})
       ORDER BY m.contact, a.given_at DESC, a.address`,
      [group, after, PAGE, ...kinds],
    );
    const members = new Map<string, string | null>();
    for (const kind of kinds)
      for (const row of rows)
        if (!members.get(row.contact))
          members.set(row.contact, row.kind === kind ? row.address : null);
    return members;
  }

  /** Members are counted in slices, between which other work has a turn. */
  async #read(
    where: string,
    params: readonly unknown[],
    options: ContactOptions,
  ): Promise<ContactGroup[]> {
    const sql = this.store.reader(options);
    const rows = await sql.all<GroupRow>(
      `SELECT g.id, g.name, g.created_at FROM messaging_contact_group g ${where}`,
      params,
    );
    const sizes = new Map<string, number>();
    for (let from = 0; from < rows.length; from += COUNTED) {
      if (from > 0) await turn();
      const ids = rows.slice(from, from + COUNTED).map(({ id }) => id);
      const counted = await sql.all<{ readonly id: string; readonly size: string | number }>(
        `SELECT group_id AS id, count(*) AS size FROM messaging_group_member
         WHERE group_id IN (${ids.map(() => '?').join(', ')}) GROUP BY group_id`,
        ids,
      );
      for (const { id, size } of counted) sizes.set(id, Number(size));
    }
    return rows.map(({ id, name, created_at }) => {
      const createdAt = new Date(Number(created_at) / 1_000);
      return { id, name, size: sizes.get(id) ?? 0, createdAt };
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

/** Null: a member without a suitable address. */
interface MemberAddressRow {
  readonly contact: string;
  readonly address: string | null;
  readonly kind: AddressKind | null;
}

function checkName(name: string): void {
  validated((errors) => checkText(name, 'name', errors, { least: 1 }));
}
