import {
  FREQUENCY_CAP_MIGRATIONS,
  MESSAGING_ENTITIES,
  MESSAGING_MIGRATIONS,
} from '@dundun/messaging';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ACCOUNT_TABLES } from './accounts/accounts.tables.js';
import { openDatabase, SilentTypeOrmLogger } from './config/database.js';
import type { Environment } from './config/environment.js';
import { SqliteDriver } from './config/sqlite-driver.js';
import { DKIM_KEYS, EMAIL_DOMAIN_TABLES } from './email/domains.tables.js';
import { HEALTH_TABLES } from './health/write-probe.table.js';
import { PORTAL_TABLES } from './portal/portal.tables.js';
import type { SecretColumn } from './secrets/secret-keys.js';
import { DIGEST_KEY, SECRETS_TABLES } from './secrets/secrets.tables.js';
import { adoptSecretsKey } from './secrets/stored-secrets.js';
import { SMPP_TABLES } from './smpp/smpp.tables.js';
import { CALLER_TABLES } from './voice/callers.tables.js';
import { WEBHOOK_SECRETS, WEBHOOK_TABLES } from './webhooks/webhooks.tables.js';

/** Every column of the gateway that holds secrets; the boot and a rotation encrypt them all. */
export const SECRET_COLUMNS: readonly SecretColumn[] = [
  ...Object.values(WEBHOOK_SECRETS),
  DIGEST_KEY,
  DKIM_KEYS,
];

const MIGRATIONS = [
  ...MESSAGING_MIGRATIONS,
  ...FREQUENCY_CAP_MIGRATIONS,
  ...ACCOUNT_TABLES.migrations,
  ...WEBHOOK_TABLES.migrations,
  ...HEALTH_TABLES.migrations,
  ...SECRETS_TABLES.migrations,
  ...EMAIL_DOMAIN_TABLES.migrations,
  ...PORTAL_TABLES.migrations,
  ...CALLER_TABLES.migrations,
  ...SMPP_TABLES.migrations,
];

/** Library and gateway share one database and its transactions; only migrations change tables. */
export function dataSourceOptions({
  DATABASE_URL: database,
}: Pick<Environment, 'DATABASE_URL'>): DataSourceOptions {
  const shared = {
    entities: [
      ...MESSAGING_ENTITIES,
      ...ACCOUNT_TABLES.entities,
      ...WEBHOOK_TABLES.entities,
      ...HEALTH_TABLES.entities,
      ...SECRETS_TABLES.entities,
      ...EMAIL_DOMAIN_TABLES.entities,
      ...PORTAL_TABLES.entities,
      ...CALLER_TABLES.entities,
      ...SMPP_TABLES.entities,
    ],
    migrations: MIGRATIONS,
    logging: false,
  };
  switch (database.type) {
    case 'sqlite':
      return {
        ...shared,
        type: 'better-sqlite3',
        database: database.path,
        driver: SqliteDriver,
        enableWAL: true,
        // A blocking wait for another process's lock would stop the event loop; writers retry
        // instead.
        timeout: 0,
      };
    case 'postgres':
      return {
        ...shared,
        type: 'postgres',
        url: database.url,
        applicationName: 'dundun',
        // Detects a server that vanished without closing the connection.
        extra: { keepAlive: true, keepAliveInitialDelayMillis: 10_000 },
      };
    case 'mysql':
    case 'mariadb':
      return {
        ...shared,
        type: database.type,
        url: database.url,
        charset: 'utf8mb4',
        timezone: 'Z',
      };
  }
}

/** Brings the tables up to date, also in production. @throws EnvironmentError */
export async function migrateGatewayDatabase(environment: Environment): Promise<void> {
  const options = { ...dataSourceOptions(environment), logger: new SilentTypeOrmLogger() };
  const known = [...MIGRATIONS, ...FREQUENCY_CAP_MIGRATIONS];
  const dataSource = await openDatabase(new DataSource(options), 'always', known);
  await dataSource.destroy();
}

/**
 * Runs pending migrations, in production at most on an empty database, and checks the key of the
 * stored secrets. @throws EnvironmentError
 */
export async function openGatewayDatabase(
  environment: Environment,
  inProduction: 'never' | 'empty',
): Promise<DataSource> {
  const options = { ...dataSourceOptions(environment), logger: new SilentTypeOrmLogger() };
  const dataSource = await openDatabase(
    new DataSource(options),
    environment.NODE_ENV === 'production' ? inProduction : 'always',
    MIGRATIONS,
  );
  try {
    await adoptSecretsKey(dataSource, environment, SECRET_COLUMNS);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}
