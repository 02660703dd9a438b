import { afterAll, beforeAll, describe } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { SqliteDriver } from '../../src/config/sqlite-driver.js';
import { describeWithServer, isThere } from './servers.js';

export type DatabaseKind = 'sqlite' | 'postgres' | 'mariadb';

const KINDS: readonly DatabaseKind[] = ['sqlite', 'postgres', 'mariadb'];

/** Options of a suite beside its database. */
export type DatabaseExtras = Pick<
  DataSourceOptions,
  | 'entities'
  | 'migrations'
  | 'migrationsRun'
  | 'synchronize'
  | 'subscribers'
  | 'logging'
  | 'logger'
  | 'maxQueryExecutionTime'
  | 'extra'
>;

/** A database that belongs to one suite: empty at its start, gone at its end. */
export interface TestDatabase {
  readonly kind: DatabaseKind;
  /** `sqlite:PATH`, `postgres://…` or `mysql://…`; known from the suite's first hook on. */
  readonly url: string;
  options(extras?: DatabaseExtras): DataSourceOptions;
  /** Address of a second, empty database of the same kind, which is dropped with the first. */
  another(): Promise<string>;
  /** A data source on it that the suite's end destroys. */
  open(extras?: DatabaseExtras): Promise<DataSource>;
}

/** A database that a test made, and the function that drops it. */
interface Place {
  readonly url: string;
  readonly options: DataSourceOptions;
  remove(): Promise<void>;
}

/**
 * Describes the same promises on every kind of database. A server that is not there has its suite
 * skipped and named at the end of the run; SQLite is always there.
 *
 * @example
 * describeEachDatabase('store', (db) => {
 *   let source: DataSource;
 *   beforeAll(async () => (source = await db.open({ entities: MESSAGING_ENTITIES })));
 * });
 */
export function describeEachDatabase(
  title: string,
  body: (db: TestDatabase) => void,
  kinds: readonly DatabaseKind[] = KINDS,
): void {
  for (const kind of kinds) {
    if (kind === 'sqlite')
      describe(`${title} on sqlite`, () => describeOn(kind, () => makeFile(), body));
    else
      describeWithServer(kind, title, (server) =>
        describeOn(kind, () => MAKERS[kind](server), body),
      );
  }
}

/**
 * Describes promises that rest on the store's, whose contract holds on every kind of database: on one
 * of those that are there, drawn by the title, so that each kind runs a third of such suites. With
 * `DATABASES=each` on all of them.
 */
export function describeOneDatabase(title: string, body: (db: TestDatabase) => void): void {
  const there = KINDS.filter((kind) => kind === 'sqlite' || isThere(kind));
  const kinds = process.env.DATABASES === 'each' ? KINDS : [drawnFor(title, there)];
  describeEachDatabase(title, body, kinds);
}

/**
 * Describes promises about texts on databases whose own encoding cannot hold all of them, and on
 * SQLite in its other encoding.
 */
export function describeEachEncoding(title: string, body: (db: TestDatabase) => void): void {
  describe(`${title} on sqlite in UTF-16`, () =>
    describeOn('sqlite', () => makeFile('UTF-16le'), body));
  for (const set of ['latin1', 'utf8mb3'])
    describeWithServer('mariadb', `${title} in ${set}`, (server) =>
      describeOn('mariadb', () => makeOnMariaDb(server, set), body),
    );
}

/** The same one for the same title, on every machine where the same are there. */
export function drawnFor(title: string, kinds: readonly DatabaseKind[]): DatabaseKind {
  const number = createHash('sha256').update(title).digest().readUInt32BE();
  return kinds[number % kinds.length] ?? 'sqlite';
}

const MAKERS = { postgres: makeOnPostgres, mariadb: makeOnMariaDb };

function describeOn(
  kind: DatabaseKind,
  make: () => Promise<Place>,
  body: (db: TestDatabase) => void,
): void {
  const sources: DataSource[] = [];
  const made: Place[] = [];
  const place = (): Place => {
    const [own] = made;
    if (!own) throw new Error('the database is there in hooks and tests, not yet in describe()');
    return own;
  };
  const another = async (): Promise<string> => {
    const one = await make();
    made.push(one);
    return one.url;
  };
  const options = (extras?: DatabaseExtras): DataSourceOptions => ({
    ...place().options,
    ...extras,
  });

  beforeAll(another);
  body({
    kind,
    get url() {
      return place().url;
    },
    options,
    another,
    async open(extras) {
      const source = await new DataSource(options(extras)).initialize();
      sources.push(source);
      return source;
    },
  });
  // Hooks run in the order they were written: after those of the body.
  afterAll(async () => {
    const open = sources.filter((source) => source.isInitialized);
    await Promise.all(open.map((source) => source.destroy()));
    for (const one of made) await one.remove();
  });
}

/** Options of MariaDB whose driver begins each session with a setting, as the pools of some apps do. */
export function inEachSession(options: DataSourceOptions, setting: string): DataSourceOptions {
  const createPool = (given: mysql.PoolOptions): mysql.Pool => {
    const pool = mysql.createPool(given);
    pool.on('connection', (connection) => void connection.query(`SET SESSION ${setting}`));
    return pool;
  };
  return { ...options, driver: { ...mysql, createPool } } as DataSourceOptions;
}

async function makeFile(encoding?: string): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'dundun-test-'));
  const path = join(directory, 'test.sqlite');
  if (encoding) {
    const file = new SqliteDriver(path);
    file.pragma(`encoding = '${encoding}'`);
    // The first table fixes it.
    file.exec('CREATE TABLE first (id INTEGER); DROP TABLE first');
    file.close();
  }
  return {
    url: `sqlite:${path}`,
    options: { type: 'better-sqlite3', database: path, driver: SqliteDriver },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

async function makeOnPostgres(server: string): Promise<Place> {
  const name = freshName();
  const execute = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  await execute(`CREATE DATABASE ${name}`);
  const url = withDatabase(server, name);
  return {
    url,
    options: { type: 'postgres', url },
    remove: () => execute(`DROP DATABASE ${name} WITH (FORCE)`),
  };
}

async function makeOnMariaDb(server: string, characterSet = 'latin1'): Promise<Place> {
  const name = freshName();
  const execute = async (sql: string): Promise<void> => {
    const connection = await createConnection({ uri: server });
    await connection.query(sql);
    await connection.end();
  };
  // No statement may rely on the character set of the database.
  await execute(`CREATE DATABASE ${name} CHARACTER SET ${characterSet}`);
  const url = withDatabase(server, name);
  return {
    url,
    options: { type: 'mariadb', url },
    remove: () => execute(`DROP DATABASE ${name}`),
  };
}

function freshName(): string {
  return `dundun_test_${randomBytes(6).toString('hex')}`;
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
