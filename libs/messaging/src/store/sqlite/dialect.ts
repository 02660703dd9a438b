import { HAS_WORK } from '../rows/batch-state.js';
import {
  type Dialect,
  jsonRows,
  type Member,
  membersOf,
  memoise,
  type RowSource,
} from '../database/dialect.js';
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
  lockTimeout: () => undefined,
  skipLocked: () => '',
  greatest: (a, b) => `max(${a}, ${b})`,
  jsonText: (column, field) => `json_extract(${column}, '$.${field}')`,
  div: (a, b) => `${a} / ${b}`,
  ignoreConflict: () => 'ON CONFLICT DO NOTHING',
  onConflict: (key, set, where) =>
    `ON CONFLICT (${key}) ${where ? `WHERE ${where} ` : ''}DO UPDATE SET ${set.replaceAll('new.', 'excluded.')}`,
  rows: (columns, shared = new Set()) => {
    const members = membersOf(columns);
    const common = members.filter(({ name }) => shared.has(name));
    const own = members.filter(({ name }) => !shared.has(name));
    const selected = [...common.map(({ name }) => `? AS ${name}`), ...ownColumns(own)];
    // The limit keeps SQLite from serialising the row to JSON again for each of its columns.
    const entries = isFlat(own)
      ? 'json_each(?)'
      : '(SELECT value AS entry FROM json_each(?) LIMIT -1)';
    const sql = `(SELECT ${selected.join(', ')} FROM ${entries}) AS v`;
    const bind = isPair(own) ? jsonPairs(own) : isFlat(own) ? jsonValues(own) : jsonRows(own);
    return {
      names: members.map(({ name }) => name),
      sql,
      keyed: sql,
      bind: (rows) => [...common.map(({ of }) => boundOf(of(rows[0]!))), ...bind(rows)],
    };
  },
  sharesValues: true,
  chains: false,
  whereIn: (table, column, alias, { sql, names: [value] }) =>
    `${sql} CROSS JOIN ${table} ${alias} ON ${alias}.${column} = ${value}`,
  updateFrom: ({ table, rows, set, where }) =>
    `UPDATE ${table} SET ${set} FROM ${rows.sql} WHERE ${where}`,
  deleteFrom: (table, key, { sql }) =>
    `DELETE FROM ${table} WHERE ${key} IN (SELECT v_id FROM ${sql})`,
  // SQLite 3.53 prepares a statement again whenever a value is bound to `LIMIT ?`, and not for
  // `LIMIT +?`: planning a lane without work takes 9 µs instead of 320, compiled to WebAssembly.
  placeholders: memoise((sql) => sql.replaceAll('LIMIT ?', 'LIMIT +?')),
  laneHeads: STEPPING_LANE_HEADS,
  instanceMark: undefined,
};

/**
 * Rows of one or two columns are members of one JSON text, which SQLite hands over without another
 * JSON text for each. Gain: see `intend.ts`.
 */
function isFlat(own: readonly Member<never>[]): boolean {
  return own.length === 1 || isPair(own);
}

/** The name of a member is text. */
function isPair(own: readonly Member<never>[]): boolean {
  return own.length === 2 && own[0]?.type === 'uuid';
}

function ownColumns(own: readonly Member<never>[]): string[] {
  const [first, second] = own;
  if (isPair(own)) return [`nullif(key, '') AS ${first?.name}`, `value AS ${second?.name}`];
  if (isFlat(own)) return [`value AS ${first?.name}`];
  return own.map(({ name }, index) => `entry ->> ${index} AS ${name}`);
}

/** An object; `''` stands for null among its names, which may repeat. */
function jsonPairs<T>([first, second]: readonly Member<T>[]): RowSource<T>['bind'] {
  const text = (member: Member<T> | undefined, row: T, none: unknown) =>
    JSON.stringify(member?.of(row) ?? none);
  return (rows) => [
    `{${rows.map((row) => `${text(first, row, '')}:${text(second, row, null)}`).join()}}`,
  ];
}

function jsonValues<T>([only]: readonly Member<T>[]): RowSource<T>['bind'] {
  return (rows) => [JSON.stringify(rows.map((row) => only?.of(row) ?? null))];
}

/** The driver binds a number as a floating-point value, and no boolean. */
function boundOf(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return Number.isInteger(value) ? BigInt(value as number) : (value ?? null);
}
