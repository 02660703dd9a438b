import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
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

  it('a broken constraint is named', async () => {
    await source.query('CREATE TABLE sender (name TEXT PRIMARY KEY)');
    await source.query('INSERT INTO sender VALUES (?)', ['ACME']);
    await expect(source.query('INSERT INTO sender VALUES (?)', ['ACME'])).rejects.toMatchObject({
      code: 'SQLITE_CONSTRAINT_PRIMARYKEY',
    });
  });

  it('enableWAL turns on the write-ahead log', async () => {
    expect(await source.query('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  });
});
