import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { setTimeout as wait } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { dataSourceOptions, type Tables } from './data-source.options.js';
import type { Environment } from './environment.js';
import { EnvironmentError } from './environment-error.js';
import { isEmptyDatabase, pendingMigrations, runMigrations } from './migrations.js';
import { TypeOrmLogger } from './type-orm.logger.js';

/** `never`: refuse to run on old tables. `empty`: only a database without any. `always`. */
export type MigrateWhen = 'never' | 'empty' | 'always';

/** The one TypeORM data source, opened before the application: what is wrong with it is told first. */
@Module({})
export class DatabaseModule {
  /** The application closes it when it stops. */
  static over(dataSource: DataSource): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => dataSource.options,
          dataSourceFactory: () => Promise.resolve(dataSource),
        }),
      ],
    };
  }
}

/**
 * The gateway's data source, open, with tables as new as this code.
 * @throws EnvironmentError where it cannot be opened
 */
export function openGatewayDatabase(
  { DATABASE_URL }: Environment,
  tables: Tables,
  migrate: MigrateWhen,
): Promise<DataSource> {
  const options = { ...dataSourceOptions(DATABASE_URL, tables), logger: new TypeOrmLogger() };
  return openDatabase(new DataSource(options), migrate);
}

/** @throws EnvironmentError where migrations are pending that `migrate` forbids to run. */
export async function openDatabase(
  dataSource: DataSource,
  migrate: MigrateWhen,
): Promise<DataSource> {
  await connect(dataSource);
  try {
    const pending = await pendingMigrations(dataSource);
    if (pending.length === 0) return dataSource;
    if (migrate === 'always' || (migrate === 'empty' && (await isEmptyDatabase(dataSource))))
      await runMigrations(dataSource);
    else
      throw new EnvironmentError([
        `DATABASE_URL: its tables are ${pending.length} ${pending.length === 1 ? 'migration' : 'migrations'} behind (${pending.join(', ')}); run \`npm run migration:run\` first`,
      ]);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}

/** Opening a SQLite file may meet another process that is just opening it too. */
async function connect(dataSource: DataSource): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await dataSource.initialize();
      return;
    } catch (error) {
      if (attempt >= 50 || !/database is locked/.test(String(error))) throw notOpened(error);
      await wait(20 + Math.random() * 80);
    }
  }
}

function notOpened(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // A connection that failed for each of a host's addresses says so in its code alone.
  const { code = '', message } = error as Error & { code?: string };
  return new EnvironmentError(
    [
      `DATABASE_URL: the database cannot be opened: ${message || code}; check the address, that it is running and that this user may use it`,
    ],
    { cause: error },
  );
}
