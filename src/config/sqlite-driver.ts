import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { isAnyArrayBuffer, isDate } from 'node:util/types';
import Database from 'libsql';

/** Begins, ends or marks a transaction. */
const CONTROL = /^\s*(?:BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i;

/**
 * Adapts libsql's prebuilt binaries (no compiler, every supported Node) to TypeORM's
 * `better-sqlite3` driver. libsql refuses dates and booleans, takes a single `null` for an options
 * object and returns blobs as `ArrayBuffer`.
 */
export class SqliteDriver {
  readonly #database: Database.Database;

  constructor(path: string, options?: Database.Options) {
    if (path !== '' && path !== ':memory:') closeToOthers(path);
    this.#database = new Database(path, options);
  }

  /** False after SQLite rolled back by itself, for example because the disk is full. */
  get inTransaction(): boolean {
    // On a closed database this query would crash libsql, and with it the process.
    return this.#database.open && this.#database.inTransaction;
  }

  prepare(sql: string) {
    const database = this.#database;
    if (CONTROL.test(sql)) return this.#control(sql);
    const statement = database.prepare<unknown[]>(sql);
    // On a closed database libsql would run it, and keep a lock that it takes for ever.
    const opened = () => {
      if (!database.open) throw new TypeError('The database connection is not open');
      return statement;
    };
    return {
      reader: statement.reader,
      run: (...values: unknown[]) => opened().run(values.map(bindable)),
      all: (...values: unknown[]) => opened().all(values.map(bindable)).map(withBuffers),
    };
  }

  /**
   * libsql leaves a prepared statement that another writer has refused (`SQLITE_BUSY`) in progress until it
   * is collected. A read that follows then fixes the connection's snapshot, and SQLite refuses it each later
   * write lock.
   */
  #control(sql: string) {
    const run = () => {
      if (!this.#database.open) throw new TypeError('The database connection is not open');
      this.#database.exec(sql);
      return { changes: 0, lastInsertRowid: 0 };
    };
    return { reader: false, run, all: (): unknown[] => [] };
  }

  pragma(source: string): unknown {
    return this.#database.pragma(source);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  close(): void {
    // libsql keeps a closed database, with its locks, until the last statement is collected.
    if (this.inTransaction) this.#database.exec('ROLLBACK');
    this.#database.close();
  }
}

const DATABASE_FILE = /\.(?:sqlite3?|db)(?:-wal|-shm|-journal)?$/;

/**
 * Takes the rights of other users from the database, its logs and its folder. SQLite gives new logs
 * the mode of the database. A folder with other files is left as it is, and so is one like `/tmp`.
 */
function closeToOthers(path: string): void {
  // Windows has no such modes.
  if (process.platform === 'win32') return;
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const file = realpathSync(path);
  for (const log of ['', '-wal', '-shm', '-journal']) keepMode(file + log, 0o600);
  const folder = dirname(file);
  const { mode, uid } = statSync(folder);
  const isShared = (mode & 0o1000) !== 0 || uid !== process.getuid?.();
  const isOurs = (name: string) => name.startsWith(basename(file)) || DATABASE_FILE.test(name);
  if (!isShared && readdirSync(folder).every(isOurs)) keepMode(folder, 0o700);
}

/** Removes all other rights, where the file exists. */
function keepMode(path: string, rights: number): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o777 & ~rights) !== 0) chmodSync(path, mode & rights);
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
