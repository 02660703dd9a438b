import type { ColumnType, Dialect, RowSource } from '../store/database/dialect.js';
import type { Sql } from '../store/database/store-database.js';
import { CONTACT_COLUMNS } from './schema.js';

type Table = keyof typeof CONTACT_COLUMNS;
/** The tables whose rows {@link keyOf} finds. */
type KeyedTable = Exclude<Table, 'suppression' | 'erased_suppression' | 'learnt_number'>;
type Value<C> = C extends `big ${string}`
  ? number
  : C extends `${string} NOT NULL${string}`
    ? string
    : string | null;

/** Types of row sources; a column of any other type is a key. */
const SOURCE_TYPES: Readonly<Record<string, ColumnType>> = {
  uuid: 'uuid',
  big: 'bigint',
  text: 'text',
};

/** A row of a table; times in epoch milliseconds, which the database keeps in microseconds. */
export type Row<T extends Table> = {
  readonly [C in keyof (typeof CONTACT_COLUMNS)[T]]: Value<(typeof CONTACT_COLUMNS)[T][C]>;
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
    const columns = sourceOf(table);
    const source = this.dialect.rows(
      Object.fromEntries(columns.map(({ name, type }) => [`v_${name}`, type])),
    );
    const values = rows.map((row: Readonly<Record<string, unknown>>) =>
      columns.map(({ name, type }) =>
        type === 'bigint' ? Math.round((row[name] as number) * 1_000) : row[name],
      ),
    );
    await tx.run(
      `INSERT INTO messaging_${table} (${columns.map(({ name }) => name).join(', ')})
       SELECT ${source.names.join(', ')} FROM ${source.sql} WHERE 1 = 1 ${conflict}`,
      [...source.bind(values.sort(byKey)), ...params],
    );
  }

  async of<T extends KeyedTable>(
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
    table: 'contact_address' | 'consent_history' | 'inbound_text',
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

  async delete(tx: Sql, table: KeyedTable, ids: Iterable<string>): Promise<void> {
    const statement = this.dialect.deleteFrom(`messaging_${table}`, keyOf(table), this.ids);
    await tx.run(statement, this.bind(ids));
  }

  /** Parameters of {@link ids}, in order. */
  bind(ids: Iterable<string>): unknown[] {
    return this.ids.bind([...new Set(ids)].sort().map((id) => [id]));
  }
}

/** Rows as a query returns them, with their times in epoch milliseconds. */
export function decoded<T extends Table>(
  table: T,
  rows: readonly Record<string, unknown>[],
): Row<T>[] {
  const times = sourceOf(table).filter(({ type }) => type === 'bigint');
  return rows.map((row) => {
    const at = times.map(({ name }) => [name, Number(row[name]) / 1_000]);
    return { ...row, ...Object.fromEntries(at) } as Row<T>;
  });
}

function sourceOf(table: Table): { readonly name: string; readonly type: ColumnType }[] {
  return Object.entries(CONTACT_COLUMNS[table]).map(([name, column]) => {
    return { name, type: SOURCE_TYPES[column.split(' ')[0] as string] ?? 'key' };
  });
}

function keyOf(table: KeyedTable): string {
  return 'contact' in CONTACT_COLUMNS[table] ? 'contact' : 'id';
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

export function contactOf({ contact }: { readonly contact: string }): string {
  return contact;
}
