import { type AddressKind, addressOfKey } from '../message/address.js';
import { addressIdentity, formsOf } from '../message/phone-identity.js';
import type { Page } from '../message/views.js';
import type { Sql } from '../store/database/store-database.js';
import { pageOf } from '../store/rows/cursor.js';
import type { KeyedDigests } from '../store/rows/keyed-digests.js';
import type { ConsentScope, SuppressionEntry, SuppressionListOptions } from './contact.js';
import { pageRequest, tenantOf } from './contact-input.js';
import { type ContactTables, decoded, type Row } from './contact-tables.js';

/** Suppression reason of a refusal that outlives its erased contact. */
export const REFUSED = 'opted_out';

/** Reason of an entry that its person made; it ends with a younger opt-in of that person. */
const UNSUBSCRIBED = 'unsubscribe';

/** Condition on the key of an address. */
const OF_KIND: Readonly<Record<AddressKind, string>> = {
  phone: `(address NOT LIKE '%@%' AND address NOT LIKE 'platform:%')`,
  email: `(address LIKE '%@%' AND address NOT LIKE 'platform:%')`,
  platform: `address LIKE 'platform:%'`,
};

type SuppressionTable = 'suppression' | 'erased_suppression';

/** A refusal of an erased contact, and the contact that now has its address. */
type OutlivedRefusal = Row<'erased_suppression'> & { readonly contact: string };

/** An entry that a person made, and the contact that has its address. */
type OwnRefusal = Row<'suppression'> & { readonly contact: string };

/** Addresses that receive no messages, regardless of their contact; of erased people as digests. */
export class Suppressions {
  constructor(
    private readonly tables: ContactTables,
    private readonly digests: KeyedDigests,
  ) {}

  /** @param rows with address keys as they were written */
  async add(tx: Sql, rows: readonly Omit<Row<'suppression'>, 'written'>[]): Promise<void> {
    const byKey = new Map<string, Row<'suppression'>>();
    for (const row of rows) {
      const address = addressIdentity(row.address);
      const written = address === row.address ? null : row.address;
      const key = [row.tenant, address, row.channel, row.category].join(' ');
      if (!byKey.has(key)) byKey.set(key, { ...row, address, written });
    }
    const conflict = this.#conflict('suppression', 'address');
    await this.tables.insert(tx, 'suppression', [...byKey.values()], conflict);
  }

  /** Replaces addresses by their digests. @param people all addresses of the person, by each of them */
  async conceal(
    tx: Sql,
    tenant: string,
    people: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    const addresses = [...people.keys()];
    const keys = this.#keys(addresses);
    const rows = await tx.all<Record<string, unknown>>(
      `SELECT s.* FROM ${keys.sql} ${this.tables.dialect.join} messaging_suppression s
         ON s.address = v_key AND s.tenant = ?`,
      [...keys.params, tenant],
    );
    if (rows.length === 0) return;
    await this.#addErased(
      tx,
      decoded('suppression', rows).map(({ address, ...row }) => {
        return { ...row, addresses: people.get(address) ?? [address] };
      }),
    );
    await this.#delete(tx, tenant, { address: addresses });
  }

  /** What was kept of an erased number counts for all numbers of its person. */
  async shareErased(
    tx: Sql,
    tenant: string,
    people: readonly (readonly string[])[],
  ): Promise<void> {
    if (!(await this.#hasErased(tx))) return;
    const owners = new Map(
      people.flatMap((addresses) =>
        addresses
          .flatMap((address) => this.#digestsOf(tenant, address))
          .map((digest) => [digest, addresses] as const),
      ),
    );
    const keys = this.#keys([...owners.keys()]);
    const rows = await tx.all<Record<string, unknown>>(
      `SELECT s.* FROM ${keys.sql} ${this.tables.dialect.join} messaging_erased_suppression s
         ON s.digest = v_key AND s.tenant = ?`,
      [...keys.params, tenant],
    );
    await this.#addErased(
      tx,
      decoded('erased_suppression', rows).map(({ digest, ...row }) => {
        return { ...row, addresses: owners.get(digest) ?? [] };
      }),
    );
  }

  /** @param rows with the addresses whose digests get an entry */
  async #addErased(
    tx: Sql,
    rows: readonly (Omit<Row<'erased_suppression'>, 'digest'> & {
      readonly addresses: readonly string[];
    })[],
  ): Promise<void> {
    const byKey = new Map<string, Row<'erased_suppression'>>();
    for (const { addresses, ...row } of rows)
      for (const address of addresses) {
        const [digest = ''] = this.digests.ofAddress(row.tenant, address);
        const key = [digest, row.channel, row.category].join(' ');
        // Of several entries of one person the one that no opt-in ends is kept.
        if (!byKey.has(key) || byKey.get(key)?.reason === REFUSED)
          byKey.set(key, { ...row, digest });
      }
    const conflict = this.#conflict('erased_suppression', 'digest');
    await this.tables.insert(tx, 'erased_suppression', [...byKey.values()], conflict);
  }

  async #hasErased(sql: Pick<Sql, 'all'>): Promise<boolean> {
    const rows = await sql.all(`SELECT 1 AS one FROM messaging_erased_suppression LIMIT 1`);
    return rows.length > 0;
  }

  async remove(
    tx: Sql,
    tenant: string,
    addresses: readonly string[],
    scope: ConsentScope,
  ): Promise<void> {
    const digests = addresses.flatMap((address) => this.#digestsOf(tenant, address));
    await this.#delete(tx, tenant, { address: addresses }, scope);
    await this.#delete(tx, tenant, { digest: digests }, scope);
  }

  /**
   * Ordered by address; those of erased people after the others, unless the list is limited to an
   * address `key`, or to a channel with these `kinds` of addresses.
   */
  async list(
    sql: Pick<Sql, 'all'>,
    options: SuppressionListOptions,
    {
      key: only,
      kinds,
    }: {
      readonly key?: string | undefined;
      readonly kinds?: readonly AddressKind[] | undefined;
    } = {},
  ): Promise<Page<SuppressionEntry>> {
    const { after, limit } = pageRequest(options, 'suppression');
    const [key = '', channel = '', category = '', from = '0'] = after?.split(' ') ?? [];
    const tenant = tenantOf(options);
    const page = (table: SuppressionTable, column: string, erased: number, written = 'NULL') =>
      `SELECT ${erased} AS erased, ${column} AS address, ${written} AS written, channel, category, reason, at, message
       FROM messaging_${table} WHERE tenant = ? AND (${erased} > ? OR (${erased} = ? AND (${column} > ?
         OR (${column} = ? AND (channel > ? OR (channel = ? AND category > ?))))))`;
    const place = [tenant, Number(from), Number(from), key, key, channel, channel, category];
    const isLimited = only !== undefined || kinds !== undefined;
    const limits = [
      ...(only === undefined ? [] : ['address = ?']),
      ...(kinds === undefined
        ? []
        : [`channel IN ('*', ?)`, `(${kinds.map((kind) => OF_KIND[kind]).join(' OR ')})`]),
    ];
    const limited = [only, options.channel].filter((value) => value !== undefined);
    const own = [page('suppression', 'address', 0, 'written'), ...limits].join(' AND ');
    const erased = isLimited ? '' : `UNION ALL ${page('erased_suppression', 'digest', 1)}`;
    const params = [...place, ...limited, ...(isLimited ? [] : place)];
    const rows = await sql.all<Record<string, unknown> & { readonly erased: string | number }>(
      `SELECT * FROM (${own} ${erased}) AS entries
       ORDER BY erased, address, channel, category LIMIT ?`,
      [...params, limit + 1],
    );
    const entries = decoded('suppression', rows).map((row, n) => {
      return { ...row, erased: Number(rows[n]?.erased) };
    });
    const { data, nextCursor } = pageOf(entries, limit, (last) =>
      [last.address, last.channel, last.category, last.erased].join(' '),
    );
    return {
      data: data.map(({ erased, address, written, at, channel, category, reason, message }) => {
        const shown = erased === 1 ? null : addressOfKey(written ?? address);
        return { address: shown, channel, category, reason, at: new Date(at), messageId: message };
      }),
      nextCursor,
    };
  }

  /** Refusals of erased people whose address a contact has again. */
  async outlived(tx: Sql, contacts: Iterable<string>): Promise<OutlivedRefusal[]> {
    const { dialect } = this.tables;
    if (!(await this.#hasErased(tx))) return [];
    const addresses = await this.tables.of(tx, 'contact_address', contacts);
    const owners = new Map(
      addresses.flatMap(({ tenant, address, contact }) =>
        this.#digestsOf(tenant, address).map((digest) => [digest, contact] as const),
      ),
    );
    const keys = this.#keys([...owners.keys()]);
    const [{ tenant } = { tenant: '' }] = addresses;
    const rows = await tx.all<Record<string, unknown>>(
      `SELECT s.* FROM ${keys.sql} ${dialect.join} messaging_erased_suppression s
         ON s.digest = v_key AND s.tenant = ? WHERE s.reason IN ('${REFUSED}', '${UNSUBSCRIBED}')`,
      [...keys.params, tenant],
    );
    return decoded('erased_suppression', rows).map((row) => {
      return { ...row, contact: owners.get(row.digest) as string };
    });
  }

  async lift(tx: Sql, { tenant, digest, channel, category }: OutlivedRefusal): Promise<void> {
    await tx.run(
      `DELETE FROM messaging_erased_suppression
       WHERE tenant = ? AND digest = ? AND channel = ? AND category = ?
         AND reason IN ('${REFUSED}', '${UNSUBSCRIBED}')`,
      [tenant, digest, channel, category],
    );
  }

  /** Entries that people made themselves, of the contacts' addresses. */
  async unsubscribed(tx: Sql, contacts: Iterable<string>): Promise<OwnRefusal[]> {
    const addresses = await this.tables.of(tx, 'contact_address', contacts);
    const owners = new Map(addresses.map(({ address, contact }) => [address, contact]));
    const keys = this.#keys([...owners.keys()]);
    const [{ tenant } = { tenant: '' }] = addresses;
    const rows = await tx.all<Record<string, unknown>>(
      `SELECT s.* FROM ${keys.sql} ${this.tables.dialect.join} messaging_suppression s
         ON s.address = v_key AND s.tenant = ? WHERE s.reason = '${UNSUBSCRIBED}'`,
      [...keys.params, tenant],
    );
    return decoded('suppression', rows).map((row) => {
      return { ...row, contact: owners.get(row.address) as string };
    });
  }

  async liftUnsubscribed(
    tx: Sql,
    { tenant, address, channel, category }: OwnRefusal,
  ): Promise<void> {
    await tx.run(
      `DELETE FROM messaging_suppression
       WHERE tenant = ? AND address = ? AND channel = ? AND category = ? AND reason = '${UNSUBSCRIBED}'`,
      [tenant, address, channel, category],
    );
  }

  /**
   * A refusal's entry ends with the first younger consent; any other entry stays. MySQL assigns
   * from left to right, so the column that decides comes last.
   */
  #conflict(table: SuppressionTable, key: 'address' | 'digest'): string {
    const { dialect } = this.tables;
    const old = `messaging_${table}`;
    const ofRefusal = (column: string, raised: string) =>
      `${column} = CASE WHEN ${old}.reason = '${REFUSED}' THEN ${raised} ELSE ${old}.${column} END`;
    const set = [
      ofRefusal('at', dialect.greatest(`${old}.at`, 'new.at')),
      ofRefusal('reason', 'new.reason'),
    ];
    return dialect.onConflict(`tenant, ${key}, channel, category`, set.join(', '));
  }

  /** @param scope `undefined`: of every scope */
  async #delete(
    tx: Sql,
    tenant: string,
    by: { readonly address: readonly string[] } | { readonly digest: readonly string[] },
    scope?: ConsentScope,
  ): Promise<void> {
    const [table, key, values] =
      'address' in by
        ? (['suppression', 'address', by.address] as const)
        : (['erased_suppression', 'digest', by.digest] as const);
    const { sql, params } = this.#keys(values);
    await tx.run(
      `DELETE FROM messaging_${table} WHERE ${key} IN (SELECT v_key FROM ${sql}) AND tenant = ?
       ${scope ? 'AND channel = ? AND category = ?' : ''}`,
      [...params, tenant, ...(scope ? [scope.channel, scope.category] : [])],
    );
  }

  /** Also of other forms of a number, of which former versions kept the digest. */
  #digestsOf(tenant: string, address: string): string[] {
    return formsOf(address).flatMap((form) => this.digests.ofAddress(tenant, form));
  }

  #keys(values: readonly string[]) {
    const source = this.tables.dialect.rows({ v_key: 'key' });
    return { sql: source.sql, params: source.bind(values.map((value) => [value])) };
  }
}
