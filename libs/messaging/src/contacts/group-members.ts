import { type FieldError, MessageValidationError } from '../message/errors.js';
import type { Page } from '../message/views.js';
import { decodeCursor, encodeCursor } from '../store/cursor.js';
import type { Dialect } from '../store/dialect.js';
import type { Sql } from '../store/store-database.js';

/** Somebody in a group. */
export interface GroupMember {
  /** Id of the contact, UUIDv7. */
  readonly id: string;
  readonly phone: string | null;
  readonly bsuid: string | null;
  readonly name: string | null;
}

/** How many times over groups may name the same people. */
const OVERLAP = 4;

/** Reads who is in groups. */
export class GroupMembers {
  readonly #keys;

  constructor(private readonly dialect: Dialect) {
    this.#keys = dialect.rows({ v_key: 'key' });
  }

  async page(
    sql: Pick<Sql, 'all'>,
    group: string,
    { cursor, limit = 100 }: { readonly cursor?: string; readonly limit?: number },
  ): Promise<Page<GroupMember>> {
    const after = cursor === undefined ? [] : [decodeCursor(cursor, 'uuid')];
    const rows = await sql.all<GroupMember>(
      `SELECT c.id, c.phone, c.bsuid, c.name FROM messaging_group_member m
       JOIN messaging_contact c ON c.id = m.contact
       WHERE m.group_id = ? ${cursor === undefined ? '' : 'AND m.contact > ?'}
       ORDER BY m.contact LIMIT ?`,
      [group, ...after, limit + 1],
    );
    const data = rows.slice(0, limit).map(({ id, phone, bsuid, name }) => ({
      id,
      phone,
      bsuid,
      name,
    }));
    const last = data.at(-1);
    return { data, nextCursor: rows.length > limit && last ? encodeCursor(last.id) : null };
  }

  /**
   * The phone numbers of each group's members, by group.
   * @param most numbers the caller can use; far more, even of the same people, are refused unread
   */
  async expand(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    paths: ReadonlyMap<string, string>,
    most: number,
  ): Promise<Map<string, string[]>> {
    const limit = OVERLAP * most + paths.size;
    const rows = await sql.all<{ id: string; phone: string | null }>(
      `SELECT id, phone FROM (SELECT g.id, c.phone, c.id AS contact
         FROM ${this.#keys.sql} ${this.dialect.join} messaging_contact_group g ON g.id = v_key AND g.tenant = ?
         LEFT JOIN messaging_group_member m ON m.group_id = g.id
         LEFT JOIN messaging_contact c ON c.id = m.contact LIMIT ?) AS members
       ORDER BY id, contact`,
      [...this.#keys.bind([...paths.keys()].map((id) => [id])), tenant, limit + 1],
    );
    if (rows.length > limit)
      throw new MessageValidationError([
        { path: 'to', message: `must name at most ${most} recipients` },
      ]);
    const groups = new Map<string, string[]>();
    for (const { id, phone } of rows) {
      const members = groups.get(id) ?? [];
      if (phone !== null) members.push(phone);
      groups.set(id, members);
    }
    const errors: FieldError[] = [];
    for (const [id, path] of paths)
      if (!groups.has(id)) errors.push({ path, message: 'names a group that does not exist' });
    if (errors.length > 0) throw new MessageValidationError(errors.slice(0, 10));
    return groups;
  }
}
