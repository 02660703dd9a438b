import { type ColumnType, type Dialect, jsonRows, membersOf } from '../database/dialect.js';

/**
 * A column of JSON_TABLE has else the character set of the database. In a comparison this collation
 * gives way to that of a table's column, which compares byte by byte.
 */
const TEXT = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci';

const TYPES: Record<ColumnType, string> = {
  uuid: `CHAR(36) ${TEXT}`,
  int: 'INT',
  bigint: 'BIGINT',
  text: `LONGTEXT ${TEXT}`,
  // The width of the widest key column: a longer value would become NULL.
  key: `VARCHAR(320) ${TEXT}`,
};

export const MYSQL_DIALECT: Dialect = {
  kind: 'mysql',
  types: {
    uuid: 'CHAR(36)',
    key: 'VARCHAR(255)',
    address: 'VARCHAR(320)',
    text: 'LONGTEXT',
    bytes: 'LONGBLOB',
    big: 'BIGINT',
    int: 'INT',
    small: 'SMALLINT',
    short: (length) => `VARCHAR(${length})`,
  },
  residual: (condition) => condition,
  now: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
  bigint: '?',
  // Without partial indexes, a generated column leads the index of batches with work.
  hasWork: (batch) => `${batch}.has_work = 1`,
  join: 'STRAIGHT_JOIN',
  forceIndex: (index) => `FORCE INDEX (${index})`,
  forUpdate: () => 'FOR UPDATE',
  lockTimeout: (milliseconds) =>
    `SET SESSION innodb_lock_wait_timeout = ${Math.max(1, Math.ceil(milliseconds / 1_000))}`,
  skipLocked: () => 'FOR UPDATE SKIP LOCKED',
  greatest: (a, b) => `greatest(${a}, ${b})`,
  jsonText: (column, field) => `JSON_UNQUOTE(JSON_EXTRACT(${column}, '$.${field}'))`,
  div: (a, b) => `${a} DIV ${b}`,
  ignoreConflict: (table, column) => `ON DUPLICATE KEY UPDATE ${column} = ${table}.${column}`,
  onConflict: (_key, set) =>
    `ON DUPLICATE KEY UPDATE ${set.replaceAll(/new\.(\w+)/g, 'VALUES($1)')}`,
  rows: (columns) => {
    const members = membersOf(columns);
    const paths = members.map(
      ({ name, type }, index) => `${name} ${TYPES[type]} PATH '$[${index}]'`,
    );
    const sql = `JSON_TABLE(?, '$[*]' COLUMNS (${paths.join(', ')})) AS v`;
    return {
      names: Object.keys(columns),
      sql,
      keyed: sql,
      bind: jsonRows(members),
    };
  },
  sharesValues: false,
  chains: false,
  whereIn: (table, column, alias, { sql, names: [value] }) =>
    `${sql} STRAIGHT_JOIN ${table} ${alias} ON ${alias}.${column} = ${value}`,
  updateFrom: ({ table, rows, set, where, index = 'PRIMARY' }) =>
    `UPDATE ${rows.sql} STRAIGHT_JOIN ${table} FORCE INDEX (${index}) ON ${where} SET ${set}`,
  deleteFrom: (table, key, { sql }) =>
    `DELETE ${table} FROM ${sql} STRAIGHT_JOIN ${table} ON ${table}.${key} = v_id`,
  placeholders: (sql) => sql,
  // MySQL's loose index scan steps from group to group.
  laneHeads: `WITH heads AS (
      SELECT b.lane, b.priority, min(b.available_at) AS due_at FROM messaging_batch b
      WHERE b.has_work = 1 AND b.parked_until = 0 GROUP BY b.has_work, b.lane, b.priority
      UNION ALL
      SELECT b.lane, b.priority, min(b.parked_until) FROM messaging_batch b
      WHERE b.has_work = 1 AND b.parked_until > 0 GROUP BY b.has_work, b.lane, b.priority
    )`,
  instanceMark: undefined,
};
