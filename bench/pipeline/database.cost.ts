import { stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import type { DatabasePlace } from '../harness/database.place.js';

/** Work that a database has done, and its size, so far. */
export interface DatabaseCost {
  /** Size of tables and indexes, with the space that a VACUUM would free. */
  readonly bytes: number;
  /** NaN on SQLite. */
  readonly commits: number;
  /** Bytes of the write-ahead log; NaN on SQLite. */
  readonly logged: number;
}

/** PostgreSQL publishes the counters of an idle session within a second. */
const PUBLISHED = 1_500;

export async function costOf({ kind, url }: DatabasePlace): Promise<DatabaseCost> {
  if (kind === 'sqlite') {
    const { size } = await stat(url.slice('sqlite:'.length));
    return { bytes: size, commits: Number.NaN, logged: Number.NaN };
  }
  await setTimeout(PUBLISHED);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<keyof DatabaseCost, string>>(
      `SELECT pg_database_size(current_database()) AS bytes, xact_commit AS commits,
         pg_current_wal_lsn() - '0/0'::pg_lsn AS logged
       FROM pg_stat_database WHERE datname = current_database()`,
    );
    const [{ bytes, commits, logged }] = rows as [(typeof rows)[0] & object];
    return { bytes: Number(bytes), commits: Number(commits), logged: Number(logged) };
  } finally {
    await client.end();
  }
}
