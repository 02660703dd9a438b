import type { DataSource } from 'typeorm';
import { MessagingConfigError } from '../message/errors.js';
import { arrayOf } from './postgres/arrays.js';

/** Column types of row sources; they are the same words in every dialect. */
export type ColumnType = 'uuid' | 'int' | 'bigint' | 'text' | 'key';

/** Columns of a row source. By convention their names start with `v_`, so that they never shadow a table's. */
export type Columns = Readonly<Record<string, ColumnType>>;

/** Many rows as one relation from one statement's parameters: no per-row placeholders, one plan. */
export interface RowSource {
  /** A relation to put after FROM or JOIN, already named `v`. */
  readonly sql: string;
  /**
   * The same, to be joined with a table by its key. PostgreSQL is kept from knowing how many rows there are:
   * by their number it would rather read a table of some megabytes whole, for each statement.
   */
  readonly few: string;
  readonly names: readonly string[];
  bind(rows: readonly (readonly unknown[])[]): unknown[];
}

export interface UpdateFrom {
  readonly table: string;
  readonly rows: RowSource;
  readonly set: string;
  readonly where: string;
  /** What `where` finds the rows by. @default the primary key */
  readonly index?: string;
}

/** What the three families of servers say differently. Statements are written with `?`. */
export interface Dialect {
  readonly kind: 'sqlite' | 'postgres' | 'mysql';
  /** Database time in epoch microseconds. */
  readonly now: string;
  /**
   * After a table that is locked: the index to find its rows by. MariaDB reads a small table whole, and
   * would wait for every row that somebody's open transaction holds.
   */
  by(index: string): string;
  /** Locks the rows of the named alias until the transaction ends. */
  forUpdate(alias: string): string;
  /** The greater of two expressions. */
  greatest(a: string, b: string): string;
  /** Joins what follows to a row source, which is always the outer side: it is small, and nobody has statistics of it. */
  readonly join: 'JOIN' | 'CROSS JOIN' | 'STRAIGHT_JOIN';
  /**
   * A further condition on rows found by their key. Kept from the planner where it trusts statistics: by
   * those, hardly a row is ever `sending`, and it would compare every row with every row.
   */
  also(condition: string): string;
  /** Integer division. */
  div(a: string, b: string): string;
  /** Suffix of an INSERT … SELECT that leaves existing rows alone. */
  ignoreConflict(table: string, column: string): string;
  /**
   * Suffix of an INSERT … SELECT that sets columns of an existing row; `new.` names the row not inserted.
   * `where` is the condition of the key's index, where the server has one.
   */
  onConflict(key: string, set: string, where?: string): string;
  rows(columns: Columns): RowSource;
  /**
   * After FROM: the rows of `table` whose `column` is among the source's one column. PostgreSQL takes the
   * array itself, because it goes through an index by one; of a relation it knows nothing.
   */
  among(table: string, column: string, alias: string, values: RowSource): string;
  updateFrom(update: UpdateFrom): string;
  /** Deletes the rows of `table` whose `key` is in the source's `v_id`. */
  deleteFrom(table: string, key: string, ids: RowSource): string;
  /** A member of a JSON text, as text; null where it is not there. */
  jsonField(column: string, name: string): string;
  placeholders(sql: string): string;
}

export function dialectOf(dataSource: DataSource): Dialect {
  switch (dataSource.options.type) {
    case 'postgres':
    case 'cockroachdb':
    case 'aurora-postgres':
      return postgres;
    case 'mysql':
    case 'mariadb':
      return mysql;
    case 'better-sqlite3':
      return sqlite;
    default:
      throw new MessagingConfigError(
        `dataSource: type ${dataSource.options.type} is not supported; use postgres, mysql, mariadb or better-sqlite3`,
      );
  }
}

const POSTGRES_TYPES: Record<ColumnType, string> = {
  uuid: 'uuid',
  int: 'int4',
  bigint: 'int8',
  text: 'text',
  key: 'text',
};

const postgres: Dialect = {
  kind: 'postgres',
  also: (condition) => `coalesce(${condition}, false)`,
  now: '(extract(epoch from clock_timestamp()) * 1000000)::int8',
  join: 'JOIN',
  by: () => '',
  forUpdate: (alias) => `FOR UPDATE OF ${alias}`,
  greatest: (a, b) => `greatest(${a}, ${b})`,
  div: (a, b) => `${a} / ${b}`,
  ignoreConflict: () => 'ON CONFLICT DO NOTHING',
  onConflict: (key, set, where) =>
    `ON CONFLICT (${key}) ${where ? `WHERE ${where} ` : ''}DO UPDATE SET ${set.replaceAll('new.', 'excluded.')}`,
  rows: (columns) => {
    const names = Object.keys(columns);
    const types = Object.values(columns);
    const sql = `unnest(${types.map((type) => `?::${POSTGRES_TYPES[type]}[]`).join(', ')}) AS v(${names.join(', ')})`;
    return {
      names,
      sql,
      // True of every row, and by its form of one in two hundred.
      few: `(SELECT * FROM ${sql} WHERE ${names[0]} IS NOT DISTINCT FROM greatest(${names[0]})) AS v`,
      bind: (rows) =>
        types.map((type, column) => arrayOf(rows, column, type === 'text' || type === 'key')),
    };
  },
  among: (table, column, alias) =>
    `(SELECT * FROM ${table} WHERE ${column} = ANY(?::text[])) AS ${alias}`,
  updateFrom: fromClause,
  deleteFrom: (table, key, { few }) =>
    `DELETE FROM ${table} USING ${few} WHERE ${table}.${key} = v_id`,
  jsonField: (column, name) => `(CAST(${column} AS json) ->> '${name}')`,
  placeholders: memoise((sql) => {
    let n = 0;
    return sql.replaceAll('?', () => `$${++n}`);
  }),
};

const sqlite: Dialect = {
  kind: 'sqlite',
  also: (condition) => condition,
  now: "CAST(round(unixepoch('subsec') * 1000000) AS INTEGER)",
  join: 'CROSS JOIN',
  by: () => '',
  forUpdate: () => '',
  greatest: (a, b) => `max(${a}, ${b})`,
  div: (a, b) => `${a} / ${b}`,
  ignoreConflict: () => 'ON CONFLICT DO NOTHING',
  onConflict: (key, set, where) =>
    `ON CONFLICT (${key}) ${where ? `WHERE ${where} ` : ''}DO UPDATE SET ${set.replaceAll('new.', 'excluded.')}`,
  rows: (columns) => {
    const names = Object.keys(columns);
    const members = names.map((name, index) => `entry ->> ${index} AS ${name}`).join(', ');
    // The limit keeps SQLite from writing the row out as JSON anew for each of its columns.
    const sql = `(SELECT ${members} FROM (SELECT value AS entry FROM json_each(?) LIMIT -1)) AS v`;
    return { names, sql, few: sql, bind: (rows) => [JSON.stringify(rows)] };
  },
  among: joined('CROSS JOIN'),
  updateFrom: fromClause,
  deleteFrom: (table, key, { sql }) =>
    `DELETE FROM ${table} WHERE ${key} IN (SELECT v_id FROM ${sql})`,
  jsonField: (column, name) => `(${column} ->> '${name}')`,
  placeholders: (sql) => sql,
};

const MYSQL_TYPES: Record<ColumnType, string> = {
  uuid: 'CHAR(36)',
  int: 'INT',
  bigint: 'BIGINT',
  text: 'LONGTEXT',
  key: 'VARCHAR(255)',
};

const mysql: Dialect = {
  kind: 'mysql',
  also: (condition) => condition,
  now: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
  join: 'STRAIGHT_JOIN',
  by: (index) => `FORCE INDEX (${index})`,
  forUpdate: () => 'FOR UPDATE',
  greatest: (a, b) => `greatest(${a}, ${b})`,
  div: (a, b) => `${a} DIV ${b}`,
  ignoreConflict: (table, column) => `ON DUPLICATE KEY UPDATE ${column} = ${table}.${column}`,
  onConflict: (_key, set) =>
    `ON DUPLICATE KEY UPDATE ${set.replaceAll(/new\.(\w+)/g, 'VALUES($1)')}`,
  rows: (columns) => {
    const members = Object.entries(columns).map(
      ([name, type], index) => `${name} ${MYSQL_TYPES[type]} PATH '$[${index}]'`,
    );
    const sql = `JSON_TABLE(?, '$[*]' COLUMNS (${members.join(', ')})) AS v`;
    return { names: Object.keys(columns), sql, few: sql, bind: (rows) => [JSON.stringify(rows)] };
  },
  among: joined('STRAIGHT_JOIN'),
  updateFrom: ({ table, rows, set, where, index = 'PRIMARY' }) =>
    `UPDATE ${rows.sql} STRAIGHT_JOIN ${table} FORCE INDEX (${index}) ON ${where} SET ${set}`,
  deleteFrom: (table, key, { sql }) =>
    `DELETE ${table} FROM ${sql} STRAIGHT_JOIN ${table} ON ${table}.${key} = v_id`,
  jsonField: (column, name) => `JSON_UNQUOTE(JSON_EXTRACT(${column}, '$.${name}'))`,
  placeholders: (sql) => sql,
};

function joined(join: Dialect['join']): Dialect['among'] {
  return (table, column, alias, { sql, names: [value] }) =>
    `${sql} ${join} ${table} ${alias} ON ${alias}.${column} = ${value}`;
}

function fromClause({ table, rows, set, where }: UpdateFrom): string {
  return `UPDATE ${table} SET ${set} FROM ${rows.few} WHERE ${where}`;
}

/** Texts are remembered up to so many; some have a list of conditions in them. */
const KNOWN = 1_000;

function memoise(translate: (sql: string) => string): (sql: string) => string {
  const known = new Map<string, string>();
  return (sql) => {
    let translated = known.get(sql);
    if (translated !== undefined) return translated;
    if (known.size >= KNOWN) known.clear();
    known.set(sql, (translated = translate(sql)));
    return translated;
  };
}
