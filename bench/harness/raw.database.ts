import pg from 'pg';
import { openRawSqlite, openWal } from './raw.sqlite.js';

/** Types of values in PostgreSQL. */
type RawType = 'uuid' | 'text' | 'int4' | 'int8';

/** One statement for many rows, through the raw driver, prepared once. */
export interface RawStatement<T> {
  readonly name: string;
  readonly types: readonly RawType[];
  readonly of: (row: T) => readonly unknown[];
  /** SQL of both databases. `v` is a table of the rows with the columns `a`, `b`, … */
  readonly sql: string;
}

/** Runs statements within one transaction. */
export type RawRun = <T, R = unknown>(
  statement: RawStatement<T>,
  rows: readonly T[],
) => Promise<readonly R[]>;

/** A database of the limit that a bare program sets: prepared statements, and no checks. */
export interface RawDatabase {
  /** Resolves once the commit is on disk. */
  commit(work: (run: RawRun) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export function openRawDatabase(url: string): Promise<RawDatabase> {
  return url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url);
}

const LETTERS = 'abcdefghijklmnop'.split('');

/** Plans that are made while the tables are empty read their indexes, too. */
const INDEXED = ['seqscan', 'hashjoin', 'mergejoin'].map((way) => `-c enable_${way}=off`).join(' ');

async function openPostgres(connectionString: string): Promise<RawDatabase> {
  const pool = new pg.Pool({ connectionString, max: 10, options: INDEXED });
  const texts = new Map<string, string>();
  const textOf = ({ name, types, sql }: RawStatement<never>): string => {
    const known = texts.get(name);
    if (known !== undefined) return known;
    const arrays = types.map((type, n) => `$${n + 1}::${type}[]`).join(', ');
    const names = LETTERS.slice(0, types.length).join(', ');
    // A condition that is always true: the planner expects few rows, and looks each up by an index.
    const few = `SELECT * FROM unnest(${arrays}) AS r(${names}) WHERE a IS NOT DISTINCT FROM greatest(a)`;
    const text = sql.replace(/\bv\b/, `(${few}) AS v`);
    texts.set(name, text);
    return text;
  };
  return {
    commit: async (work) => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await work(async <T, R>(statement: RawStatement<T>, rows: readonly T[]) => {
          const values = rows.map(statement.of);
          const { rows: found } = await client.query({
            name: statement.name,
            text: textOf(statement as RawStatement<never>),
            values: statement.types.map((_, column) => values.map((row) => row[column])),
          });
          return found as R[];
        });
        await client.query('COMMIT');
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
}

/** Syncs a group off the event loop after its commit, as the library does. */
async function openSqlite(path: string): Promise<RawDatabase> {
  const database = openRawSqlite(path, 'NORMAL');
  const wal = openWal(path);
  const prepared = new Map<string, ReturnType<typeof database.prepare<unknown[]>>>();
  const statementOf = ({ name, types, sql }: RawStatement<never>) => {
    const known = prepared.get(name);
    if (known) return known;
    const columns = types.map((_, n) => `value ->> ${n} AS ${LETTERS[n] ?? ''}`).join(', ');
    const rows = `(SELECT ${columns} FROM json_each(?)) AS v`;
    const made = database.prepare<unknown[]>(sql.replace(/\bv\b/, rows));
    prepared.set(name, made);
    return made;
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    commit: async (work) => {
      // One connection has one transaction at a time.
      const turn = last.then(async () => {
        database.exec('BEGIN IMMEDIATE');
        await work(async <T, R>(statement: RawStatement<T>, rows: readonly T[]) => {
          const one = statementOf(statement as RawStatement<never>);
          const given = [JSON.stringify(rows.map(statement.of))];
          if (one.reader) return one.all(given) as R[];
          one.run(given);
          return [];
        });
        database.exec('COMMIT');
      });
      last = turn.catch(() => undefined);
      await turn;
      await wal.sync();
    },
    close: async () => {
      await wal.close();
      database.close();
    },
  };
}
