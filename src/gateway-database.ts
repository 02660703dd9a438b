import { MESSAGING_ENTITIES } from '@dundun/messaging';
import { FREQUENCY_CAP_MIGRATIONS, MESSAGING_MIGRATIONS } from '@dundun/messaging/migrations';
import { DataSource, type DataSourceOptions } from 'typeorm';
import mysql from 'mysql2';
import { ACCOUNT_TABLES } from './accounts/accounts.tables.js';
import { BILLING_CHECK_TABLES } from './billing/billing-check.js';
import { ALERT_SECRETS, ALERT_TABLES } from './alerts/alerts.tables.js';
import { FAILURE_COUNT_TABLES } from './alerts/failure-counts.tables.js';
import { BUDGET_TABLES } from './billing/budgets/budgets.tables.js';
import { CHARGE_TABLES } from './billing/charging/charging.tables.js';
import { REQUEST_LOG_TABLES } from './accounts/request-log.tables.js';
import { LEDGER_TABLES } from './billing/ledger/ledger.tables.js';
import { MARGIN_TABLES } from './billing/margins/margins.tables.js';
import { STATEMENT_TABLES } from './billing/statements/statements.tables.js';
import { THRESHOLD_TABLES } from './billing/thresholds/thresholds.tables.js';
import { RATE_CARD_TABLES } from './billing/rate-cards/rate-cards.tables.js';
import { destroyWithin, openDatabase, SilentTypeOrmLogger } from './config/database.js';
import type { Environment } from './config/environment.js';
import { tablesOf, UnicodeTables1790000000900 } from './config/entity-tables.js';
import { SqliteDriver } from './config/sqlite-driver.js';
import { DKIM_KEYS, EMAIL_DOMAIN_TABLES } from './channels/email/domains/domains.tables.js';
import { CALLBACK_SIGHTING_TABLES } from './doctor/callback-sightings.tables.js';
import { HEALTH_TABLES } from './health/write-probe.table.js';
import { PORTAL_TABLES, SAVED_VIEW_TABLES, SESSION_ORIGIN } from './portal/portal.tables.js';
import { PROBE_TABLES } from './probes/probes.tables.js';
import { SECOND_FACTOR_SECRET, SIGN_IN_TABLES } from './portal/sign-in/sign-in.tables.js';
import type { SecretColumn } from './secrets/secret-keys.js';
import { DIGEST_KEY, SECRETS_TABLES } from './secrets/secrets.tables.js';
import { adoptSecretsKey, checkSecretsKey } from './secrets/stored-secrets.js';
import { SendersInOneTable1790000001501 } from './senders/senders.migration.js';
import { SMPP_TABLES } from './smpp/smpp.tables.js';
import { StartProgress } from './start-progress.js';
import { WEBHOOK_SECRETS, WEBHOOK_TABLES } from './webhooks/webhooks.tables.js';

/** Every column of the gateway that holds secrets; the boot and a rotation encrypt them all. */
export const SECRET_COLUMNS: readonly SecretColumn[] = [
  ...Object.values(WEBHOOK_SECRETS),
  DIGEST_KEY,
  DKIM_KEYS,
  SECOND_FACTOR_SECRET,
  ...Object.values(ALERT_SECRETS),
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
  // Its table is now that of all senders.
  ...tablesOf('Callers1700000008000', []).migrations,
  ...SMPP_TABLES.migrations,
  UnicodeTables1790000000900,
  SESSION_ORIGIN,
  ...SIGN_IN_TABLES.migrations,
  SendersInOneTable1790000001501,
  ...RATE_CARD_TABLES.migrations,
  ...LEDGER_TABLES.migrations,
  ...CHARGE_TABLES.migrations,
  ...BILLING_CHECK_TABLES.migrations,
  ...BUDGET_TABLES.migrations,
  ...THRESHOLD_TABLES.migrations,
  ...STATEMENT_TABLES.migrations,
  ...CALLBACK_SIGHTING_TABLES.migrations,
  ...REQUEST_LOG_TABLES.migrations,
  ...ALERT_TABLES.migrations,
  ...FAILURE_COUNT_TABLES.migrations,
  ...MARGIN_TABLES.migrations,
  ...PROBE_TABLES.migrations,
  ...SAVED_VIEW_TABLES.migrations,
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
      ...SMPP_TABLES.entities,
      ...SIGN_IN_TABLES.entities,
      ...RATE_CARD_TABLES.entities,
      ...LEDGER_TABLES.entities,
      ...CHARGE_TABLES.entities,
      ...BILLING_CHECK_TABLES.entities,
      ...BUDGET_TABLES.entities,
      ...THRESHOLD_TABLES.entities,
      ...STATEMENT_TABLES.entities,
      ...MARGIN_TABLES.entities,
      ...CALLBACK_SIGHTING_TABLES.entities,
      ...REQUEST_LOG_TABLES.entities,
      ...ALERT_TABLES.entities,
      ...FAILURE_COUNT_TABLES.entities,
      ...PROBE_TABLES.entities,
      ...SAVED_VIEW_TABLES.entities,
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
        driver: strictMysql,
        url: database.url,
        charset: 'utf8mb4',
        timezone: 'Z',
      };
  }
}

/** Brings the tables up to date, also in production. @throws EnvironmentError */
export async function migrateGatewayDatabase(
  environment: Environment,
  patience?: number,
): Promise<void> {
  const options = { ...dataSourceOptions(environment), logger: new SilentTypeOrmLogger() };
  await StartProgress.of(async ({ goOn: onProgress }) => {
    const source = new DataSource(options);
    const dataSource = await openDatabase(source, 'always', { known: MIGRATIONS, onProgress });
    await dataSource.destroy();
  }, patience);
}

/**
 * Runs pending migrations, in production at most on an empty database, and checks the key of the
 * stored secrets. @throws EnvironmentError
 */
export async function openGatewayDatabase(
  environment: Environment,
  inProduction: 'never' | 'empty',
  onProgress?: () => void,
): Promise<DataSource> {
  const options = { ...dataSourceOptions(environment), logger: new SilentTypeOrmLogger() };
  const dataSource = await openDatabase(
    new DataSource(options),
    environment.NODE_ENV === 'production' ? inProduction : 'always',
    { known: MIGRATIONS, ...(onProgress && { onProgress }) },
  );
  try {
    await adoptSecretsKey(dataSource, environment, SECRET_COLUMNS);
    return dataSource;
  } catch (error) {
    await destroyWithin(dataSource);
    throw error;
  }
}

/**
 * Opens the database as it is, and checks the key of the stored secrets.
 * @param within milliseconds for the connection
 * @throws EnvironmentError
 */
export async function openUnchangedDatabase(
  environment: Environment,
  within: number,
): Promise<DataSource> {
  const options = {
    ...dataSourceOptions(environment),
    logger: new SilentTypeOrmLogger(),
    // Of PostgreSQL, and of MySQL.
    connectTimeoutMS: within,
    connectTimeout: within,
  };
  const dataSource = await openDatabase(new DataSource(options), 'never', { known: MIGRATIONS });
  try {
    await checkSecretsKey(dataSource, environment);
    return dataSource;
  } catch (error) {
    await destroyWithin(dataSource);
    throw error;
  }
}

/**
 * The driver whose sessions are strict, whatever the server's mode: without, the server cuts a text
 * that is too long, and answers that it is stored.
 */
const strictMysql: { createPool(options: mysql.PoolOptions): mysql.Pool } = {
  ...mysql,
  createPool(options: mysql.PoolOptions): mysql.Pool {
    const pool = mysql.createPool(options);
    pool.on('connection', (connection) => {
      connection.query(
        "SET SESSION sql_mode = CONCAT_WS(',', NULLIF(@@sql_mode, ''), 'STRICT_TRANS_TABLES')",
        // Without it an error would end the process. No statement runs in a session that is not strict.
        (error) => error && connection.destroy(),
      );
    });
    return pool;
  },
};
