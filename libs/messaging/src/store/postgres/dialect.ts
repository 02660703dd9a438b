import { HAS_WORK } from '../rows/batch-state.js';
import {
  type ColumnType,
  type Dialect,
  membersOf,
  memoise,
  type UpdateFrom,
} from '../database/dialect.js';
import { STEPPING_LANE_HEADS } from '../reads/lane-heads.js';

const TYPES: Record<ColumnType, string> = {
  uuid: 'uuid',
  int: 'int4',
  bigint: 'int8',
  text: 'text',
  key: 'text',
};

export const POSTGRES_DIALECT: Dialect = {
  kind: 'postgres',
  types: {
    uuid: 'uuid',
    key: 'varchar(255)',
    address: 'varchar(320)',
    text: 'text',
    bytes: 'bytea',
    big: 'bigint',
    int: 'integer',
    small: 'smallint',
    short: (length) => `varchar(${length})`,
  },
  residual: (condition) => `coalesce(${condition}, false)`,
  now: '(extract(epoch from clock_timestamp()) * 1000000)::int8',
  bigint: 'CAST(? AS int8)',
  hasWork: (batch) => `${batch}.${HAS_WORK}`,
  join: 'JOIN',
  forceIndex: () => '',
  forUpdate: (alias) => `FOR UPDATE OF ${alias}`,
  lockTimeout: (milliseconds) => `SET LOCAL lock_timeout = ${Math.ceil(milliseconds)}`,
  skipLocked: (alias) => `FOR UPDATE OF ${alias} SKIP LOCKED`,
  greatest: (a, b) => `greatest(${a}, ${b})`,
  jsonText: (column, field) => `CAST(${column} AS json) ->> '${field}'`,
  div: (a, b) => `${a} / ${b}`,
  ignoreConflict: () => 'ON CONFLICT DO NOTHING',
  onConflict: (key, set, where) =>
    `ON CONFLICT (${key}) ${where ? `WHERE ${where} ` : ''}DO UPDATE SET ${set.replaceAll('new.', 'excluded.')}`,
  rows: (columns) => {
    const members = membersOf(columns);
    const names = members.map(({ name }) => name);
    const sql = `unnest(${members.map(({ type }) => `?::${TYPES[type]}[]`).join(', ')}) AS v(${names.join(', ')})`;
    return {
      names,
      sql,
      // A condition that is always true; the planner expects it for one row in two hundred.
      keyed: `(SELECT * FROM ${sql} WHERE ${names[0]} IS NOT DISTINCT FROM greatest(${names[0]})) AS v`,
      bind: (rows) =>
        members.map(({ type, of }) => arrayOf(rows, of, type === 'text' || type === 'key')),
    };
  },
  sharesValues: false,
  chains: true,
  whereIn: (table, column, alias) =>
    `(SELECT * FROM ${table} WHERE ${column} = ANY(?::text[])) AS ${alias}`,
  updateFrom: (update) => {
    const { table, rows, set, where, lockedBy } = update;
    if (lockedBy !== undefined) return updateOfAll(update, lockedBy);
    return `UPDATE ${table} SET ${set} FROM ${rows.keyed} WHERE ${where}`;
  },
  deleteFrom: (table, key, { keyed }) =>
    `DELETE FROM ${table} USING ${keyed} WHERE ${table}.${key} = v_id`,
  placeholders: memoise((sql) => {
    let n = 0;
    return sql.replaceAll('?', () => `$${++n}`);
  }),
  laneHeads: STEPPING_LANE_HEADS,
  // The cluster, the database, and the table as it was created there.
  instanceMark: `SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    'messaging_instance'::regclass::oid) AS mark`,
};

/**
 * Locks the rows that fit, and changes them where all do. The conditions hold for the rows as they are
 * locked; the statement itself sees those from before its wait.
 */
function updateOfAll({ table, rows, set, where }: UpdateFrom, key: string): string {
  const [first] = rows.names;
  return `UPDATE ${table} SET ${set} FROM (SELECT fit.*, count(*) OVER () AS v_fit FROM (
      SELECT given.* FROM (SELECT v.*, count(*) OVER () AS v_given FROM ${rows.keyed}) AS given
      JOIN ${table} ON ${where} ORDER BY CAST(${first} AS text) COLLATE "C" FOR UPDATE OF ${table}) AS fit) AS v
    WHERE ${table}.${key} = ${first} AND v_fit = v_given`;
}

/** Consecutive rows mostly share a value: its text is reused. The driver would check each type. */
function arrayOf<T>(rows: readonly T[], of: (row: T) => unknown, isText: boolean): string {
  let list = '';
  let before: unknown;
  let text = 'NULL';
  for (const row of rows) {
    const value = of(row) as string | number | null | undefined;
    if (value !== before) {
      before = value;
      if (value === null || value === undefined) text = 'NULL';
      else text = isText ? quoted(String(value)) : String(value);
    }
    list += list === '' ? text : `,${text}`;
  }
  return `{${list}}`;
}

function quoted(text: string): string {
  // Few texts have one; the test takes a third of the time of the replacement.
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`;
}
