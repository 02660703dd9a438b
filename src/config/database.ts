import { NewerDatabaseError, refuseNewerDatabase, withMigrationLock } from '@dundun/messaging';
import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { setTimeout as wait } from 'node:timers/promises';
import { AbstractLogger, type DataSource, MigrationExecutor } from 'typeorm';
import { EnvironmentError } from './environment.js';

/** TypeORM's errors are thrown as well, and its statements' parameters hold message texts. */
export class SilentTypeOrmLogger extends AbstractLogger {
  protected writeLog(): void {}
}

/** Registers an open data source; the application closes it when it stops. */
export function databaseModule(dataSource: DataSource): DynamicModule {
  return TypeOrmModule.forRootAsync({
    useFactory: () => dataSource.options,
    dataSourceFactory: () => Promise.resolve(dataSource),
  });
}

/**
 * @param migrate when pending migrations run; `empty`: on an empty database only
 * @param known every migration of this version, also those that its settings leave out
 * @throws EnvironmentError where it cannot be opened, a newer version has migrated it, or `migrate`
 * forbids pending migrations
 */
export async function openDatabase(
  dataSource: DataSource,
  migrate: 'never' | 'empty' | 'always',
  known?: Parameters<typeof refuseNewerDatabase>[1],
): Promise<DataSource> {
  await connect(dataSource);
  try {
    if (known) await refuseNewerDatabase(dataSource, known);
    const pending = await pendingMigrations(dataSource);
    if (pending.length === 0) return dataSource;
    if (migrate === 'never' || (migrate === 'empty' && !(await isEmptyDatabase(dataSource))))
      throw new EnvironmentError([
        `DATABASE_URL: its tables are ${pending.length} ${pending.length === 1 ? 'migration' : 'migrations'} behind (${pending.join(', ')}); run \`npm run migration:run\` first`,
      ]);
    await runMigrations(dataSource);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    if (!(error instanceof NewerDatabaseError)) throw error;
    throw new EnvironmentError([`DATABASE_URL: ${error.message}`], { cause: error });
  }
}

/** @throws EnvironmentError */
export async function connect(dataSource: DataSource): Promise<void> {
  try {
    await whileLocked(() => dataSource.initialize());
  } catch (error) {
    // If all addresses of a host fail, the message is empty and only the code gives the cause.
    const { code = '', message } = error as Error & { code?: string };
    throw new EnvironmentError(
      [
        `DATABASE_URL: the database cannot be opened: ${message || code}; check the address, that it is running and that this user may use it`,
      ],
      { cause: error },
    );
  }
}

export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
  return pending.map(({ name }) => name);
}

export async function isEmptyDatabase(dataSource: DataSource): Promise<boolean> {
  const executed = await new MigrationExecutor(dataSource).getExecutedMigrations();
  return executed.length === 0;
}

/**
 * One process migrates at a time: under the library's migration lock, or in one write transaction
 * on SQLite. @throws MigrationLockedError after `timeout` milliseconds
 */
export async function runMigrations(dataSource: DataSource, timeout?: number): Promise<void> {
  if (dataSource.options.type !== 'better-sqlite3') {
    const migrate = () => dataSource.runMigrations({ transaction: 'each' });
    await withMigrationLock(dataSource, migrate, timeout);
    return;
  }
  await whileLocked(() => dataSource.query('BEGIN IMMEDIATE'));
  try {
    await dataSource.runMigrations({ transaction: 'none' });
    await dataSource.query('COMMIT');
  } catch (error) {
    await dataSource.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Repeats `work` for up to 30 s while another process holds the SQLite file. */
export async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isLocked = /SQLITE_BUSY|database is locked/.test(String(error));
      if (!isLocked || performance.now() > deadline) throw error;
      await wait(20 + Math.random() * 80);
    }
  }
}
