import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DataSource } from 'typeorm';
import type { TestDatabase } from './databases.js';

/** Columns of any table that have one of the texts in a row, as `table.column`. */
export async function columnsWith(source: DataSource, texts: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const table of await tablesOf(source)) {
    const rows = await source.query<Record<string, unknown>[]>(`SELECT * FROM ${table}`);
    for (const row of rows)
      for (const [column, value] of Object.entries(row))
        if (texts.some((text) => has(value, text))) found.add(`${table}.${column}`);
  }
  return [...found].toSorted();
}

/** Files of a SQLite database, its log among them, that have one of the texts; none of a server. */
export async function filesWith(
  { kind, url }: Pick<TestDatabase, 'kind' | 'url'>,
  texts: readonly string[],
): Promise<string[]> {
  if (kind !== 'sqlite') return [];
  const path = url.slice('sqlite:'.length);
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(basename(path)));
  const files = await Promise.all(
    names.map(async (name) => ({ name, bytes: await readFile(join(dirname(path), name)) })),
  );
  return files
    .filter(({ bytes }) => texts.some((text) => bytes.includes(text)))
    .map(({ name }) => name);
}

async function tablesOf(source: DataSource): Promise<string[]> {
  const { type } = source.options;
  const schema = type === 'postgres' ? 'current_schema()' : 'database()';
  const rows = await source.query<{ name: string }[]>(
    type === 'better-sqlite3'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
      : `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ${schema}`,
  );
  return rows.map(({ name }) => name);
}

function has(value: unknown, text: string): boolean {
  if (Buffer.isBuffer(value)) return value.includes(text);
  return (typeof value === 'string' ? value : JSON.stringify(value ?? '')).includes(text);
}
