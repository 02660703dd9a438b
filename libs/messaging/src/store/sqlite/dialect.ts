import { HAS_WORK } from '../rows/batch-state.js';
import { type Dialect, jsonRows } from '../database/dialect.js';
import { STEPPING_LANE_HEADS } from '../reads/lane-heads.js';

export const SQLITE_DIALECT: Dialect = {
  kind: 'sqlite',
  types: {
    uuid: 'TEXT',
    key: 'TEXT',
    address: 'TEXT',
    text: 'TEXT',
    bytes: 'BLOB',
    big: 'INTEGER',
    int: 'INTEGER',
    small: 'INTEGER',
    short: () => 'TEXT',
  },
  residual: (condition) => condition,
  // Milliseconds: the ids, which grow within a process, order the batches of one millisecond.
  now: "CAST(round(unixepoch('subsec') * 1000000) AS INTEGER)",
  bigint: '?',
  hasWork: (batch) => `${batch}.${HAS_WORK}`,
  join: 'CROSS JOIN',
  forceIndex: () => '',
  // SQLite has one writer at a time: the transaction itself is the lock.
  forUpdate: () => '',
  skipLocked: () => '',
  greatest: (a, b) => `max(${a}, ${b})`,
  jsonText: (column, field) => `json_extract(${column}, '$.${field}')`,
  div: (a, b) => `${a} / ${b}`,
  ignoreConflict: () => 'ON CONFLICT DO NOTHING',
  onConflict: (key, set, where) =>
    `ON CONFLICT (${key}) ${where ? `WHERE ${where} ` : ''}DO UPDATE SET ${set.replaceAll('new.', 'excluded.')}`,
  rows: (columns) => {
    const names = Object.keys(columns);
    const members = names.map((name, index) => `entry ->> ${index} AS ${name}`).join(', ');
    // The limit keeps SQLite from serialising the row to JSON again for each of its columns.
    const sql = `(SELECT ${members} FROM (SELECT value AS entry FROM json_each(?) LIMIT -1)) AS v`;
    return { names, sql, keyed: sql, bind: jsonRows(columns) };
  },
  whereIn: (table, column, alias, { sql, names: [value] }) =>
    `${sql} CROSS JOIN ${table} ${alias} ON ${alias}.${column} = ${value}`,
  updateFrom: ({ table, rows, set, where }) =>
    `UPDATE ${table} SET ${set} FROM ${rows.sql} WHERE ${where}`,
  deleteFrom: (table, key, { sql }) =>
    `DELETE FROM ${table} WHERE ${key} IN (SELECT v_id FROM ${sql})`,
  placeholders: (sql) => sql,
  laneHeads: STEPPING_LANE_HEADS,
  instanceMark: undefined,
};
