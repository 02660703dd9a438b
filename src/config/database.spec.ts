import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { pendingMigrations } from '@dundun/messaging/migrations';
import { openDatabase, SilentTypeOrmLogger } from './database.js';
import { EnvironmentError } from './environment.js';
import { SqliteDriver } from './sqlite-driver.js';

class First1700000000000 implements MigrationInterface {
  readonly name = 'First1700000000000';
  up(runner: QueryRunner): Promise<void> {
    return runner.query('CREATE TABLE first (id INTEGER)') as Promise<void>;
  }
  down = (): Promise<void> => Promise.resolve();
}

class Second1700000000001 implements MigrationInterface {
  readonly name = 'Second1700000000001';
  up(runner: QueryRunner): Promise<void> {
    return runner.query('CREATE TABLE second (id INTEGER)') as Promise<void>;
  }
  down = (): Promise<void> => Promise.resolve();
}

class Broken1700000000002 implements MigrationInterface {
  readonly name = 'Broken1700000000002';
  up(runner: QueryRunner): Promise<void> {
    return runner.query('CREATE TABLE') as Promise<void>;
  }
  down = (): Promise<void> => Promise.resolve();
}

Logger.overrideLogger(false);

describe('openDatabase', () => {
  let directory: string;
  const open: DataSource[] = [];

  const source = (migrations: (new () => MigrationInterface)[]): DataSource => {
    const made = new DataSource({
      type: 'better-sqlite3',
      database: join(directory, 'app.sqlite'),
      driver: SqliteDriver,
      enableWAL: true,
      timeout: 0,
      logger: new SilentTypeOrmLogger(),
      migrations,
    });
    open.push(made);
    return made;
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-migrations-'));
  });

  afterEach(async () => {
    for (const one of open.splice(0)) if (one.isInitialized) await one.destroy();
    await rm(directory, { recursive: true });
  });

  it('migrations run at start outside production', async () => {
    const first = await openDatabase(source([First1700000000000]), 'always');
    expect(await pendingMigrations(first)).toEqual([]);
    const second = await openDatabase(source([First1700000000000, Second1700000000001]), 'always');
    expect(await second.query('SELECT * FROM second')).toEqual([]);
  });

  it('production refuses old tables with the remedy', async () => {
    const refused = openDatabase(source([First1700000000000]), 'never');
    await expect(refused).rejects.toThrow(EnvironmentError);
    await expect(refused).rejects.toThrow(/First1700000000000.*npm run migration:run/);
    const look = await source([]).initialize();
    expect(await look.query('SELECT name FROM sqlite_master')).toEqual([]);
  });

  it('the command line migrates only an empty database in production', async () => {
    const empty = await openDatabase(source([First1700000000000]), 'empty');
    expect(await pendingMigrations(empty)).toEqual([]);
    const old = openDatabase(source([First1700000000000, Second1700000000001]), 'empty');
    await expect(old).rejects.toThrow(/1 migration behind \(Second1700000000001\)/);
  });

  it('concurrent starts on one SQLite file all succeed', async () => {
    const racers = Array.from({ length: 6 }, () =>
      source([First1700000000000, Second1700000000001]),
    );
    await Promise.all(racers.map((racer) => openDatabase(racer, 'always')));
    for (const racer of racers) expect(await pendingMigrations(racer)).toEqual([]);
  });

  it('a failing migration is reported unchanged', async () => {
    await expect(openDatabase(source([Broken1700000000002]), 'always')).rejects.toThrow(
      /incomplete input|syntax/,
    );
  });
});
