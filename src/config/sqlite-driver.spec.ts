import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { SqliteDriver } from './sqlite-driver.js';

describe('SqliteDriver', () => {
  let directory: string;
  let source: DataSource;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-sqlite-'));
    source = new DataSource({
      type: 'better-sqlite3',
      database: join(directory, 'app.sqlite'),
      driver: SqliteDriver,
      enableWAL: true,
    });
    await source.initialize();
  });

  afterEach(async () => {
    await source.destroy();
    await rm(directory, { recursive: true });
  });

  it('the SQLite driver binds dates, booleans and null and reads blobs as buffers', async () => {
    const values = [null, true, new Date(0), Buffer.from('ab')];
    expect(await source.query('SELECT ? a, ? b, ? c, ? d', values)).toEqual([
      { a: null, b: 1, c: '1970-01-01T00:00:00.000Z', d: Buffer.from('ab') },
    ]);
    expect(await source.query('SELECT ? a', [null])).toEqual([{ a: null }]);
  });

  it('a begin that another connection refuses fixes no snapshot, so that one after its commit succeeds', async () => {
    const { options } = source;
    const own = await new DataSource({ ...options, timeout: 0 } as DataSourceOptions).initialize();
    try {
      await source.query('CREATE TABLE sender (name TEXT PRIMARY KEY)');
      await source.query('BEGIN IMMEDIATE');
      await source.query('INSERT INTO sender VALUES (?)', ['ACME']);
      const refused = { code: 'SQLITE_BUSY' };
      await expect(own.query('BEGIN IMMEDIATE')).rejects.toMatchObject(refused);
      expect(await own.query('SELECT name FROM sender')).toEqual([]);
      await source.query('COMMIT');
      // As text of its own: the refused statement is not run again.
      await own.query('BEGIN  IMMEDIATE');
      await own.query('SAVEPOINT one');
      expect(await own.query('SELECT name FROM sender')).toEqual([{ name: 'ACME' }]);
      await own.query('COMMIT');
    } finally {
      await own.destroy();
    }
  });

  it('a broken constraint is named', async () => {
    await source.query('CREATE TABLE sender (name TEXT PRIMARY KEY)');
    await source.query('INSERT INTO sender VALUES (?)', ['ACME']);
    await expect(source.query('INSERT INTO sender VALUES (?)', ['ACME'])).rejects.toMatchObject({
      code: 'SQLITE_CONSTRAINT_PRIMARYKEY',
    });
  });

  describe('on a file that two connections share', () => {
    const begin = 'BEGIN IMMEDIATE';
    const open = () => new SqliteDriver(join(directory, 'app.sqlite'));
    const expectFree = () => {
      const other = open();
      other.exec(begin);
      other.close();
    };

    it('a connection that closes within a transaction releases its lock', () => {
      const driver = open();
      const statement = driver.prepare(begin);
      statement.run();
      expect(expectFree).toThrow('database is locked');
      driver.close();
      expectFree();
      // Referred to until here, so that it is not collected.
      expect(statement.reader).toBe(false);
    });

    it('a statement that was prepared before its connection closed is refused', () => {
      const driver = open();
      const [statement, query] = [driver.prepare(begin), driver.prepare('SELECT 1')];
      driver.close();
      expect(() => statement.run()).toThrow('The database connection is not open');
      expect(() => query.all()).toThrow('The database connection is not open');
      expectFree();
    });
  });

  describe('on a file that other users may read', () => {
    const rightsOf = async (path: string): Promise<string> =>
      ((await stat(path)).mode & 0o777).toString(8);

    it('a new database, its logs and its folder are closed to other users', async () => {
      const path = join(directory, 'data', 'new.sqlite');
      const made = new DataSource({ ...source.options, database: path } as DataSourceOptions);
      await made.initialize();
      await made.query('CREATE TABLE sender (name TEXT)');
      const files = ['', '-wal', '-shm'].map((log) => path + log);
      expect(await Promise.all(files.map(rightsOf))).toEqual(['600', '600', '600']);
      expect(await rightsOf(join(directory, 'data'))).toBe('700');
      await made.destroy();
    });

    it('an existing database, its logs and its folder lose the rights of other users', async () => {
      await source.query('CREATE TABLE sender (name TEXT)');
      const files = ['', '-wal', '-shm'].map((log) => join(directory, `app.sqlite${log}`));
      for (const file of files) await chmod(file, 0o666);
      await chmod(directory, 0o755);
      const second = await new DataSource(source.options).initialize();
      expect(await Promise.all(files.map(rightsOf))).toEqual(['600', '600', '600']);
      expect(await rightsOf(directory)).toBe('700');
      await second.destroy();
    });

    it('a folder with other files keeps its mode', async () => {
      await writeFile(join(directory, 'package.json'), '{}');
      await chmod(directory, 0o755);
      const second = await new DataSource(source.options).initialize();
      expect(await rightsOf(directory)).toBe('755');
      expect(await rightsOf(join(directory, 'app.sqlite'))).toBe('600');
      await second.destroy();
    });
  });

  it('enableWAL turns on the write-ahead log', async () => {
    expect(await source.query('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  });
});
