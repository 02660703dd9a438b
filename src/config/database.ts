import { MessagingConfigError } from '@dundun/messaging';
import {
  EarlyDatabaseError,
  migrateDatabase,
  MigrationLockedError,
  NewerDatabaseError,
  pendingMigrations,
  refuseNewerDatabase,
  requireUnicode,
} from '@dundun/messaging/migrations';
import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { setTimeout as wait } from 'node:timers/promises';
import { AbstractLogger, type DataSource } from 'typeorm';
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

/** What a start and the commands need of the database. */
export interface OpenOptions {
  /** Every migration of this version, also those that its settings leave out. */
  readonly known?: Parameters<typeof refuseNewerDatabase>[1];
  /** Called while migrations make progress, those of another process as well. */
  readonly onProgress?: () => void;
}

/**
 * @param migrate when pending migrations run; `empty`: on an empty database only
 * @throws EnvironmentError where it cannot be opened, another version has made its tables, or
 * `migrate` forbids pending migrations
 */
export async function openDatabase(
  dataSource: DataSource,
  migrate: 'never' | 'empty' | 'always',
  { known, onProgress }: OpenOptions = {},
): Promise<DataSource> {
  await connect(dataSource);
  try {
    await requireTexts(dataSource);
    if (known) await refuseNewerDatabase(dataSource, known);
    const pending = await pendingMigrations(dataSource);
    if (pending.length === 0) return dataSource;
    const isEmpty = pending.length === dataSource.migrations.length;
    if (migrate === 'never' || (migrate === 'empty' && !isEmpty))
      throw new EnvironmentError([
        `DATABASE_URL: its tables are ${pending.length} ${pending.length === 1 ? 'migration' : 'migrations'} behind (${pending.join(', ')}); run \`npm run migration:run\` first`,
      ]);
    await migrateDatabase(dataSource, { onProgress, ...(known && { known }) });
    return dataSource;
  } catch (error) {
    await destroyWithin(dataSource);
    const isRefusal =
      error instanceof NewerDatabaseError ||
      error instanceof EarlyDatabaseError ||
      error instanceof MigrationLockedError;
    if (!isRefusal) throw error;
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

/** @throws EnvironmentError where the database or its connection cannot hold every text */
export async function requireTexts(dataSource: DataSource): Promise<void> {
  await requireUnicode(dataSource).catch((error: unknown) => {
    if (!(error instanceof MessagingConfigError)) throw error;
    throw new EnvironmentError([error.message.replace(/^dataSource/, 'DATABASE_URL')], {
      cause: error,
    });
  });
}

/** Closes connections; one whose server does not answer is left open after two seconds. */
export async function destroyWithin(dataSource: DataSource): Promise<void> {
  const closed = dataSource.destroy().catch(() => undefined);
  await Promise.race([closed, wait(2_000, undefined, { ref: false })]);
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
