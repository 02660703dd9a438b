import type { ColumnType, Columns, Dialect, RowSource } from '../store/database/dialect.js';
import type { Sql } from '../store/database/store-database.js';

const CONSENT = {
  contact: 'uuid',
  channel: 'key',
  category: 'key',
  state: 'key',
  at: 'bigint',
  source: 'key',
  evidence: 'text',
} as const;

const ADDRESS = { tenant: 'key', address: 'key' } as const;

/** Columns with their types, the primary key first. A `bigint` is a time; a `text` may be null. */
const COLUMNS = {
  contact: { id: 'uuid', tenant: 'key', name: 'text', created_at: 'bigint' },
  contact_address: { ...ADDRESS, kind: 'key', contact: 'uuid', given_at: 'bigint' },
  consent: CONSENT,
  consent_history: { id: 'uuid', ...CONSENT, recorded_at: 'bigint' },
  last_inbound: { contact: 'uuid', sender: 'key', last_at: 'bigint' },
  group_member: { group_id: 'key', contact: 'uuid' },
  suppression: { ...ADDRESS, channel: 'key', category: 'key', reason: 'key', at: 'bigint' },
} as const satisfies Record<string, Readonly<Record<string, ColumnType>>>;

type Table = keyof typeof COLUMNS;
type ContactTable = Exclude<Table, 'suppression'>;
type Value<T> = T extends 'bigint' ? number : T extends 'text' ? string | null : string;

/** A row of a table; times in epoch milliseconds, which the database keeps in microseconds. */
export type Row<T extends Table> = {
  readonly [C in keyof (typeof COLUMNS)[T]]: Value<(typeof COLUMNS)[T][C]>;
};

/** Inserts, reads and deletes rows of many contacts in one statement. */
export class ContactTables {
  readonly ids: RowSource;

  constructor(readonly dialect: Dialect) {
    this.ids = dialect.rows({ v_id: 'uuid' });
  }

  /** Inserts in key order against deadlocks. @param conflict SQL for existing rows with `params` */
  async insert<T extends Table>(
    tx: Sql,
    table: T,
    rows: readonly Row<T>[],
    conflict = '',
    params: readonly unknown[] = [],
  ): Promise<void> {
    if (rows.length === 0) return;
    const columns = Object.entries(COLUMNS[table]) as [keyof Row<T> & string, ColumnType][];
    const source = this.dialect.rows(
      Object.fromEntries(columns.map(([name, type]) => [`v_${name}`, type])) as Columns,
    );
    const values = rows.map((row) =>
      columns.map(([name, type]) =>
        type === 'bigint' ? Math.round((row[name] as number) * 1_000) : row[name],
      ),
    );
    await tx.run(
      `INSERT INTO messaging_${table} (${columns.map(([name]) => name).join(', ')})
       SELECT ${source.names.join(', ')} FROM ${source.sql} WHERE 1 = 1 ${conflict}`,
      [...source.bind(values.sort(byKey)), ...params],
    );
  }

  async of<T extends ContactTable>(
    sql: Pick<Sql, 'all'>,
    table: T,
    contacts: Iterable<string>,
    order = `t.${keyOf(table)}`,
  ): Promise<Row<T>[]> {
    const rows = await sql.all<Record<string, unknown>>(
      `SELECT t.* FROM ${this.ids.keyed}
       ${this.dialect.join} messaging_${table} t ON t.${keyOf(table)} = v_id ORDER BY ${order}`,
      this.bind(contacts),
    );
    return decoded(table, rows);
  }

  /** Gives rows to other contacts. @param index on the contact @default the primary key */
  async move(
    tx: Sql,
    table: 'contact_address' | 'consent_history',
    to: ReadonlyMap<string, string>,
    index?: string,
  ): Promise<void> {
    const name = `messaging_${table}`;
    const rows = this.dialect.rows({ v_from: 'uuid', v_to: 'uuid' });
    const [set, where] = ['contact = v_to', `${name}.contact = v_from`];
    await tx.run(
      this.dialect.updateFrom({ table: name, rows, set, where, index }),
      rows.bind([...to]),
    );
  }

  async delete(tx: Sql, table: ContactTable, contacts: Iterable<string>): Promise<void> {
    const statement = this.dialect.deleteFrom(`messaging_${table}`, keyOf(table), this.ids);
    await tx.run(statement, this.bind(contacts));
  }

  /** Parameters of {@link ids}, in order. */
  bind(contacts: Iterable<string>): unknown[] {
    return this.ids.bind([...new Set(contacts)].sort().map((id) => [id]));
  }
}

/** Rows as a query returns them, with their times in epoch milliseconds. */
export function decoded<T extends Table>(
  table: T,
  rows: readonly Record<string, unknown>[],
): Row<T>[] {
  const times = Object.entries(COLUMNS[table]).filter(([, type]) => type === 'bigint');
  return rows.map((row) => {
    const at = times.map(([name]) => [name, Number(row[name]) / 1_000]);
    return { ...row, ...Object.fromEntries(at) } as Row<T>;
  });
}

function keyOf(table: Table): string {
  return table === 'contact' ? 'id' : 'contact';
}

function byKey(one: readonly unknown[], other: readonly unknown[]): number {
  const at = one.findIndex((value, n) => value !== other[n]);
  return at < 0 ? 0 : (one[at] as string) < (other[at] as string) ? -1 : 1;
}

export function groupedBy<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
