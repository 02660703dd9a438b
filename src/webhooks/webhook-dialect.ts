import type { DataSource } from 'typeorm';

export type ColumnType = 'uuid' | 'int' | 'bigint' | 'text' | 'key';

/** Column types by name. Names start with `v_`, so that they never shadow a table's. */
export type Columns = Readonly<Record<string, ColumnType>>;

/** Many rows as one relation, named `v`, bound by few parameters: one plan whatever their number. */
export interface RowSource {
  readonly sql: string;
  bind(rows: readonly (readonly unknown[])[]): unknown[];
}

export interface UpdateFrom {
  readonly table: string;
  readonly rows: RowSource;
  readonly set: string;
  readonly where: string;
}

/** What the three families of servers say differently. Statements are written with `?`. */
export interface WebhookDialect {
  readonly kind: 'sqlite' | 'postgres' | 'mysql';
  /** Database time, epoch milliseconds. */
  readonly now: string;
  rows(columns: Columns): RowSource;
  updateFrom(update: UpdateFrom): string;
  placeholders(sql: string): string;
}

/** @throws TypeError for a server this gateway does not run on */
export function webhookDialectOf(dataSource: DataSource): WebhookDialect {
  switch (dataSource.options.type) {
    case 'postgres':
      return postgres;
    case 'mysql':
    case 'mariadb':
      return mysql;
    case 'better-sqlite3':
      return sqlite;
    default:
      throw new TypeError(`Webhooks have no SQL for ${dataSource.options.type}`);
  }
}

const POSTGRES_TYPES: Record<ColumnType, string> = {
  uuid: 'uuid',
  int: 'int4',
  bigint: 'int8',
  text: 'text',
  key: 'text',
};

const postgres: WebhookDialect = {
  kind: 'postgres',
  now: '(extract(epoch from clock_timestamp()) * 1000)::int8',
  rows: (columns) => {
    const names = Object.keys(columns);
    const arrays = Object.values(columns).map((type) => `?::${POSTGRES_TYPES[type]}[]`);
    return {
      sql: `unnest(${arrays.join(', ')}) AS v(${names.join(', ')})`,
      bind: (rows) => names.map((_, column) => rows.map((row) => row[column])),
    };
  },
  updateFrom: updateFromClause,
  placeholders: (sql) => {
    let n = 0;
    return sql.replaceAll('?', () => `$${++n}`);
  },
};

const sqlite: WebhookDialect = {
  kind: 'sqlite',
  now: "CAST(round(unixepoch('subsec') * 1000) AS INTEGER)",
  rows: (columns) => {
    const fields = Object.keys(columns).map((name, index) => `value ->> ${index} AS ${name}`);
    return {
      sql: `(SELECT ${fields.join(', ')} FROM json_each(?)) AS v`,
      bind: (rows) => [JSON.stringify(rows)],
    };
  },
  updateFrom: updateFromClause,
  placeholders: (sql) => sql,
};

const MYSQL_TYPES: Record<ColumnType, string> = {
  uuid: 'CHAR(36)',
  int: 'INT',
  bigint: 'BIGINT',
  text: 'LONGTEXT',
  key: 'VARCHAR(255)',
};

const mysql: WebhookDialect = {
  kind: 'mysql',
  now: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)",
  rows: (columns) => {
    const fields = Object.entries(columns).map(
      ([name, type], index) => `${name} ${MYSQL_TYPES[type]} PATH '$[${index}]'`,
    );
    return {
      sql: `JSON_TABLE(?, '$[*]' COLUMNS (${fields.join(', ')})) AS v`,
      bind: (rows) => [JSON.stringify(rows)],
    };
  },
  // In this order: MariaDB expects 40 rows of any JSON_TABLE, and would rather scan a table it thinks
  // smaller, waiting for every row that others have locked.
  updateFrom: ({ table, rows, set, where }) =>
    `UPDATE ${rows.sql} STRAIGHT_JOIN ${table} ON ${where} SET ${set}`,
  placeholders: (sql) => sql,
};

function updateFromClause({ table, rows, set, where }: UpdateFrom): string {
  return `UPDATE ${table} SET ${set} FROM ${rows.sql} WHERE ${where}`;
}
