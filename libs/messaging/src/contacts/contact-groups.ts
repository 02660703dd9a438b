import { randomInt } from 'node:crypto';
import { MessageValidationError, MessagingError } from '../message/errors.js';
import type { Page } from '../message/views.js';
import type { Clock } from '../ports/clock.js';
import { decodeCursor, encodeCursor } from '../store/cursor.js';
import type { StoreDatabase, Sql } from '../store/store-database.js';
import type { ContactOptions, NewContact, Person } from './contact.js';
import type { ContactStore } from './contact-store.js';
import { type GroupMember, GroupMembers } from './group-members.js';
import { identitiesOf, isText, tenantOf } from './person.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const GROUP_ID = /^grp_[0-9A-Za-z]{10,60}$/;

export interface ContactGroup {
  /** `grp_` and 22 base62 characters. */
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly createdAt: Date;
}

/** No group with this id for this tenant. */
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

/** Is it written as a group's id, rather than as a phone number? */
export function isGroupId(value: unknown): value is string {
  return typeof value === 'string' && GROUP_ID.test(value);
}

/** Named lists of contacts. `send({ to: [group.id] })` goes to all members that have a phone. */
export class ContactGroups {
  readonly #members: GroupMembers;

  constructor(
    private readonly database: StoreDatabase,
    private readonly store: ContactStore,
    private readonly clock: Clock,
    private readonly onWrite: () => void,
  ) {
    this.#members = new GroupMembers(database.dialect);
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
    const rows = await this.#reader(options).all<GroupRow>(
      `${SELECT} WHERE g.id = ? AND g.tenant = ?`,
      [id, tenantOf(options)],
    );
    if (!rows[0]) throw new GroupNotFoundError(id);
    return viewOf(rows[0]);
  }

  /** Oldest id first. */
  async list(
    options: ContactOptions & { readonly cursor?: string; readonly limit?: number } = {},
  ): Promise<Page<ContactGroup>> {
    const { cursor, limit = 100 } = options;
    const after = cursor === undefined ? '' : decodeCursor(cursor, 'group');
    const rows = await this.#reader(options).all<GroupRow>(
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
      await this.#must(tx, id, tenant);
      await tx.run('UPDATE messaging_contact_group SET name = ? WHERE id = ?', [name, id]);
    });
    return this.find(id, options);
  }

  /** Who is in it, in the order they became contacts. @throws GroupNotFoundError */
  async members(
    id: string,
    options: ContactOptions & { readonly cursor?: string; readonly limit?: number } = {},
  ): Promise<Page<GroupMember>> {
    await this.find(id, options);
    return this.#members.page(this.#reader(options), id, options);
  }

  /** Adds people, made contacts where they are not; those already in stay. @throws GroupNotFoundError */
  async add(
    id: string,
    people: readonly (Person | NewContact)[],
    options: ContactOptions = {},
  ): Promise<void> {
    const identities = identitiesOf(people, 'members');
    const tenant = tenantOf(options);
    const rows = this.database.dialect.rows({ v_group: 'key', v_contact: 'uuid' });
    await this.#in(options, async (tx) => {
      await this.#known(tx, id, tenant);
      // People before groups, as everywhere, so that two of these never wait for each other.
      const contacts = await this.store.resolve(tx, tenant, identities);
      await this.#must(tx, id, tenant);
      if (contacts.length === 0) return;
      await tx.run(
        `INSERT INTO messaging_group_member (group_id, contact) SELECT v_group, v_contact FROM ${rows.sql}
         WHERE 1 = 1 ${this.database.dialect.ignoreConflict('messaging_group_member', 'contact')}`,
        rows.bind([...new Set(contacts)].sort().map((contact) => [id, contact])),
      );
    });
  }

  /**
   * Takes people out; they stay contacts.
   * @returns how many were in
   * @throws GroupNotFoundError
   */
  async remove(
    id: string,
    people: readonly Person[],
    options: ContactOptions = {},
  ): Promise<number> {
    const identities = identitiesOf(people, 'members');
    const tenant = tenantOf(options);
    const ids = this.database.dialect.rows({ v_contact: 'uuid' });
    return this.#in(options, async (tx) => {
      await this.#must(tx, id, tenant);
      const known = await this.store.lookUp(tx, tenant, identities);
      const contacts = identities.flatMap((one) => known.of(one)?.id ?? []);
      if (contacts.length === 0) return 0;
      return tx.run(
        `DELETE FROM messaging_group_member WHERE contact IN (SELECT v_contact FROM ${ids.sql}) AND group_id = ?`,
        [...ids.bind(contacts.map((contact) => [contact])), id],
      );
    });
  }

  /** The contacts stay. @throws GroupNotFoundError */
  async delete(id: string, options: ContactOptions = {}): Promise<void> {
    const tenant = tenantOf(options);
    await this.#in(options, async (tx) => {
      await this.#must(tx, id, tenant);
      await tx.run('DELETE FROM messaging_group_member WHERE group_id = ?', [id]);
      await tx.run('DELETE FROM messaging_contact_group WHERE id = ?', [id]);
    });
  }

  /**
   * The phone numbers of each group's members, all groups in one query.
   * @param paths where each id stands in the message, as `to[3]`
   * @param most numbers the caller can use
   * @throws MessageValidationError naming the groups there are not, or `to` for far too many members
   */
  expand(
    tx: Pick<Sql, 'all'>,
    tenant: string,
    paths: ReadonlyMap<string, string>,
    most: number,
  ): Promise<Map<string, string[]>> {
    return this.#members.expand(tx, tenant, paths, most);
  }

  /** Locks it. */
  #must(tx: Sql, id: string, tenant: string): Promise<void> {
    return this.#known(tx, id, tenant, this.database.dialect.forUpdate('g'));
  }

  async #known(tx: Sql, id: string, tenant: string, held = ''): Promise<void> {
    const rows = await tx.all(
      `SELECT g.id FROM messaging_contact_group g WHERE g.id = ? AND g.tenant = ? ${held}`,
      [id, tenant],
    );
    if (rows.length === 0) throw new GroupNotFoundError(id);
  }

  #reader({ manager }: ContactOptions): Pick<Sql, 'all'> {
    return manager ? this.database.join(manager) : this.database;
  }

  async #in<T>({ manager }: ContactOptions, work: (tx: Sql) => Promise<T>): Promise<T> {
    try {
      return await (manager ? work(this.database.join(manager)) : this.database.transaction(work));
    } finally {
      this.onWrite();
    }
  }
}

const SELECT = `SELECT g.id, g.name, g.created_at,
    (SELECT count(*) FROM messaging_group_member m WHERE m.group_id = g.id) AS size
  FROM messaging_contact_group g`;

function checkName(name: unknown): void {
  if (!isText(name, 255) || name.trim() === '')
    throw new MessageValidationError([{ path: 'name', message: 'must be 1 to 255 characters' }]);
}

function viewOf({ id, name, created_at, size }: GroupRow): ContactGroup {
  return { id, name, size: Number(size), createdAt: new Date(Number(created_at) / 1_000) };
}
