import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

export type DatabaseKind = 'sqlite' | 'postgres';

/** An empty database for one side of a measurement. */
export interface DatabasePlace {
  readonly kind: DatabaseKind;
  /** In the form of `DATABASE_URL`. */
  readonly url: string;
  remove(): Promise<void>;
}

const SERVER = process.env['TEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/** Available databases: SQLite always, PostgreSQL if it answers. */
export async function databaseKinds(): Promise<DatabaseKind[]> {
  const client = new pg.Client({ connectionString: SERVER });
  try {
    await client.connect();
    await client.end();
    return ['sqlite', 'postgres'];
  } catch {
    process.stderr.write('PostgreSQL is not there (TEST_POSTGRES_URL): measuring SQLite alone\n');
    return ['sqlite'];
  }
}

export function makeDatabase(kind: DatabaseKind): Promise<DatabasePlace> {
  return kind === 'sqlite' ? makeFile() : makeOnPostgres();
}

/** Name and version of the database. */
export async function describeDatabase(kind: DatabaseKind): Promise<string> {
  if (kind === 'sqlite') return 'SQLite (WAL, each commit synced)';
  return admin(async (client) => {
    const { rows } = await client.query<{ version: string; commit: string; fsync: string }>(
      `SELECT current_setting('server_version') AS version, current_setting('synchronous_commit') AS commit,
         current_setting('fsync') AS fsync`,
    );
    const [{ version, commit, fsync }] = rows as [(typeof rows)[0] & object];
    return `PostgreSQL ${version.split(' ')[0]} (fsync ${fsync}, synchronous_commit ${commit})`;
  });
}

async function makeFile(): Promise<DatabasePlace> {
  const directory = await mkdtemp(join(tmpdir(), 'dundun-bench-'));
  return {
    kind: 'sqlite',
    url: `sqlite:${join(directory, 'bench.sqlite')}`,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

async function makeOnPostgres(): Promise<DatabasePlace> {
  const name = `dundun_bench_${randomBytes(6).toString('hex')}`;
  await admin((client) => client.query(`CREATE DATABASE ${name}`));
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  return {
    kind: 'postgres',
    url: url.href,
    remove: async () => {
      await admin((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

async function admin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: SERVER });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
