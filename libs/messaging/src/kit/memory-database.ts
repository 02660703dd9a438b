import { createRequire } from 'node:module';
import { DataSource } from 'typeorm';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js';
import { MessagingConfigError } from '../message/errors.js';
import type { Clock } from '../ports/clock.js';
import { IN_MEMORY } from '../store/sqlite/connection.js';

/** Members of `node-sqlite3-wasm` that the kit uses; the package is optional, so its types may be absent. */
interface WasmDatabase {
  readonly inTransaction: boolean;
  readonly isOpen: boolean;
  prepare(sql: string): WasmStatement;
  exec(sql: string): void;
  all(sql: string): unknown[];
  function(name: string, body: (argument: unknown) => number): void;
  close(): void;
}

interface WasmStatement {
  run(values: readonly unknown[]): { readonly changes: number; readonly lastInsertRowid: unknown };
  all(values: readonly unknown[]): Record<string, unknown>[];
}

const PACKAGE = 'node-sqlite3-wasm';

/** A database in memory: SQLite compiled to WebAssembly. */
export class MemoryDatabase {
  #database: WasmDatabase;
  #connections = 0;
  /** Statements read it. */
  #clock: Pick<Clock, 'now'> = Date;
  /** Statements run so far. */
  statements = 0;

  /** @throws MessagingConfigError where the package is not installed */
  constructor() {
    this.#database = this.#made();
  }

  #made(): WasmDatabase {
    const database = new (wasmSqlite())(':memory:');
    // The number of its parameters decides which form it replaces: unixepoch('subsec').
    database.function('unixepoch', (_modifier) => this.#clock.now() / 1_000);
    return database;
  }

  /** The database of a data source made with {@link inMemoryDatabase}. */
  static of(dataSource: DataSource): MemoryDatabase {
    const { databaseConnection } = dataSource.driver as { databaseConnection?: unknown };
    if (databaseConnection instanceof MemoryConnection) return databaseConnection.memory;
    throw new MessagingConfigError(
      'dataSource: MessagingTestingModule needs a data source made with inMemoryDatabase(), whose clock it can set; spread inMemoryDatabase() into its options, or leave dataSource out',
    );
  }

  /** Statements read the time of `clock` from now on. @default the system's */
  useClock(clock: Pick<Clock, 'now'>): void {
    this.#clock = clock;
  }

  opened(): WasmDatabase {
    if (!this.#database.isOpen) this.#database = this.#made();
    this.#connections++;
    return this.#database;
  }

  /** The last connection takes the database with it; the next one has a new, empty one. */
  closed(): void {
    if (--this.#connections === 0) this.#database.close();
  }
}

/** A connection in the form that TypeORM's driver `better-sqlite3` calls. */
abstract class MemoryConnection {
  static readonly [IN_MEMORY] = true;
  readonly #database: WasmDatabase;

  protected constructor(readonly memory: MemoryDatabase) {
    this.#database = memory.opened();
  }

  get inTransaction(): boolean {
    return this.#database.isOpen && this.#database.inTransaction;
  }

  prepare(sql: string) {
    const statement = this.#database.prepare(sql);
    const begins = /^\s*BEGIN IMMEDIATE\b/i.test(sql);
    return {
      reader: returnsRows(sql),
      run: (...values: unknown[]) => {
        // Connections share their transaction: the store waits for the end of one of the app.
        if (begins && this.inTransaction) throw busy();
        this.memory.statements++;
        return statement.run(values.map(bindable));
      },
      all: (...values: unknown[]) => {
        this.memory.statements++;
        return statement.all(values.map(bindable)).map(withBuffers);
      },
    };
  }

  pragma(source: string): unknown {
    return this.#database.all(`PRAGMA ${source}`);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  close(): void {
    this.memory.closed();
  }
}

/**
 * TypeORM options of a database in memory, for tests of an app's own entities beside the kit. It
 * needs no server and no native package.
 * @throws MessagingConfigError where `node-sqlite3-wasm` is not installed
 * @example
 * TypeOrmModule.forRoot({ ...inMemoryDatabase(), entities: [Order], synchronize: true }),
 * MessagingTestingModule.forRoot({ dataSource: 'default' }),
 */
export function inMemoryDatabase(): BetterSqlite3DataSourceOptions {
  const memory = new MemoryDatabase();
  return {
    type: 'better-sqlite3',
    database: ':memory:',
    driver: class extends MemoryConnection {
      constructor() {
        super(memory);
      }
    },
    statementCacheSize: 1_000,
  };
}

function wasmSqlite(): new (path: string) => WasmDatabase {
  const require = createRequire(import.meta.url);
  try {
    return (require(PACKAGE) as { Database: new (path: string) => WasmDatabase }).Database;
  } catch (error) {
    throw new MessagingConfigError(
      `MessagingTestingModule keeps its messages in ${PACKAGE}, an optional dependency that is not installed; install it with: npm install --save-dev ${PACKAGE}`,
      { cause: error },
    );
  }
}

/** The package does not tell. A statement that starts with WITH may write. */
function returnsRows(sql: string): boolean {
  const text = sql.trimStart();
  if (/^(?:SELECT|VALUES|PRAGMA|EXPLAIN)\b/i.test(text) || /\bRETURNING\b/i.test(text)) return true;
  return /^WITH\b/i.test(text) && !/\b(?:INSERT\s+INTO|UPDATE\s+\w+|DELETE\s+FROM)\b/i.test(text);
}

function busy(): Error {
  return Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
}

function bindable(value: unknown): unknown {
  if (value === undefined) return null;
  return value instanceof Date ? value.toISOString() : value;
}

function withBuffers(row: Record<string, unknown>): Record<string, unknown> {
  for (const name in row) {
    const value = row[name];
    if (value instanceof Uint8Array) row[name] = Buffer.from(value);
  }
  return row;
}
