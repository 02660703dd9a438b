import { isAnyArrayBuffer, isDate } from 'node:util/types';
import Database from 'libsql';

/**
 * Adapts libsql's prebuilt binaries (no compiler, every supported Node) to TypeORM's
 * `better-sqlite3` driver. libsql refuses dates and booleans, takes a single `null` for an options
 * object and returns blobs as `ArrayBuffer`.
 */
export class SqliteDriver {
  readonly #database: Database.Database;

  constructor(path: string, options?: Database.Options) {
    this.#database = new Database(path, options);
  }

  /** False after SQLite rolled back by itself, for example because the disk is full. */
  get inTransaction(): boolean {
    // On a closed database this query would crash libsql, and with it the process.
    return this.#database.open && this.#database.inTransaction;
  }

  prepare(sql: string) {
    const statement = this.#database.prepare<unknown[]>(sql);
    return {
      reader: statement.reader,
      run: (...values: unknown[]) => statement.run(values.map(bindable)),
      all: (...values: unknown[]) => statement.all(values.map(bindable)).map(withBuffers),
    };
  }

  pragma(source: string): unknown {
    return this.#database.pragma(source);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  close(): void {
    this.#database.close();
  }
}

function bindable(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' && isDate(value) ? value.toISOString() : value;
}

function withBuffers(row: unknown): unknown {
  const columns = row as Record<string, unknown>;
  for (const name in columns) {
    const value = columns[name];
    if (typeof value === 'object' && isAnyArrayBuffer(value)) columns[name] = Buffer.from(value);
  }
  return columns;
}
