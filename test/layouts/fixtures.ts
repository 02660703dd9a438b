import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { SqliteDriver } from '../../src/config/sqlite-driver.js';
import type { DatabaseKind, TestDatabase } from '../support/databases.js';
import type { Kept, KeptAnswer } from './kept-database.js';

const run = promisify(execFile);

/** What a fixture tells beside its statements. */
export interface Known {
  readonly kept: Kept;
  readonly answers: readonly KeptAnswer[];
}

/** Only a statement of a client program, or a line that older servers refuse. */
const OF_CLIENTS = /^(?:\\|\/\*M?!999999|SELECT pg_catalog\.set_config)/;

const placeOf = (layout: string, kind: DatabaseKind, form: 'sql' | 'json') =>
  join(import.meta.dirname, layout, `${kind}.${form}`);

export async function knownOf(layout: string, kind: DatabaseKind): Promise<Known> {
  return JSON.parse(await readFile(placeOf(layout, kind, 'json'), 'utf8')) as Known;
}

export async function writeKnown(
  layout: string,
  kind: DatabaseKind,
  { kept, answers }: Known,
): Promise<void> {
  const lines = answers.map((answer) => JSON.stringify(answer)).join(',\n');
  const json = `{"kept":${JSON.stringify(kept)},\n"answers":[\n${lines}\n]}\n`;
  await writeFile(placeOf(layout, kind, 'json'), json);
}

/** The digest of a fixture for `LAYOUTS`. */
export async function digestOf(layout: string, kind: DatabaseKind): Promise<string> {
  const hash = createHash('sha256');
  for (const form of ['sql', 'json'] as const)
    hash.update(await readFile(placeOf(layout, kind, form)));
  return hash.digest('hex');
}

/** Writes the statements that make the database again, by the programs of its server. */
export async function dump(
  layout: string,
  { kind, url }: Pick<TestDatabase, 'kind' | 'url'>,
): Promise<void> {
  const sql = await DUMPS[kind](url);
  await mkdir(join(import.meta.dirname, layout), { recursive: true });
  await writeFile(placeOf(layout, kind, 'sql'), sql);
}

/** Writes the fixture's database into an empty one, by nothing but its driver. */
export async function restore(
  layout: string,
  { kind, url }: Pick<TestDatabase, 'kind' | 'url'>,
): Promise<void> {
  const sql = await readFile(placeOf(layout, kind, 'sql'), 'utf8');
  if (kind === 'sqlite') {
    const file = new SqliteDriver(url.slice('sqlite:'.length));
    file.exec(sql);
    file.close();
  } else if (kind === 'postgres') {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql);
    await client.end();
  } else {
    const connection = await createConnection({ uri: url, multipleStatements: true });
    await connection.query(sql);
    await connection.end();
  }
}

const DUMPS: Readonly<Record<DatabaseKind, (url: string) => Promise<string>>> = {
  sqlite: async (url) => {
    const file = new SqliteDriver(url.slice('sqlite:'.length));
    const objects = file
      .prepare(
        `SELECT type, name, sql FROM sqlite_master
         WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, name`,
      )
      .all() as { type: string; name: string; sql: string }[];
    const statements = objects.map(({ sql }) => `${sql};`);
    // The last has the next row numbers, which the rows themselves also count up.
    const tables = objects.filter(({ type }) => type === 'table').map(({ name }) => name);
    for (const name of [...tables, 'sqlite_sequence']) {
      const columns = file.prepare(`PRAGMA table_info(${name})`).all() as { name: string }[];
      const row = columns.map((column) => `quote("${column.name}")`).join(` || ',' || `);
      const rows = file.prepare(`SELECT ${row} AS line FROM ${name}`).all() as { line: string }[];
      if (name === 'sqlite_sequence') statements.push(`DELETE FROM ${name};`);
      for (const { line } of rows) statements.push(`INSERT INTO ${name} VALUES (${line});`);
    }
    file.close();
    // A row may stand before the one that it refers to.
    return `PRAGMA foreign_keys = OFF;\nBEGIN;\n${statements.join('\n')}\nCOMMIT;\n`;
  },
  postgres: async (url) => {
    const { stdout } = await run('pg_dump', ['--inserts', '--no-owner', '--no-privileges', url]);
    return withoutClientLines(stdout);
  },
  mariadb: async (url) => {
    const { hostname, port, username, password, pathname } = new URL(url);
    const { stdout } = await run(
      'mysqldump',
      [
        '--single-transaction',
        '--skip-comments',
        '--skip-add-locks',
        '--skip-add-drop-table',
        '--hex-blob',
        '--no-tablespaces',
        `--host=${hostname}`,
        `--port=${port || 3306}`,
        `--user=${username}`,
        pathname.slice(1),
      ],
      { env: { ...process.env, MYSQL_PWD: password } },
    );
    return withoutClientLines(stdout);
  },
};

function withoutClientLines(dump: string): string {
  return dump
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('--') && !OF_CLIENTS.test(line))
    .join('\n');
}
