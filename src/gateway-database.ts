import { FREQUENCY_CAP_MIGRATIONS } from '@dundun/messaging';
import { DataSource } from 'typeorm';
import { ACCOUNT_TABLES } from './accounts/accounts.tables.js';
import {
  dataSourceOptions,
  openDatabase,
  SilentTypeOrmLogger,
  type Tables,
} from './config/database.js';
import type { Environment } from './config/environment.js';
import { WEBHOOK_TABLES } from './webhooks/webhooks.tables.js';

/** The gateway's tables. The library creates its own, except for the index of the frequency cap. */
export function gatewayTables({ FREQUENCY_CAP }: Pick<Environment, 'FREQUENCY_CAP'>): Tables {
  return {
    entities: [...ACCOUNT_TABLES.entities, ...WEBHOOK_TABLES.entities],
    migrations: [
      ...ACCOUNT_TABLES.migrations,
      ...WEBHOOK_TABLES.migrations,
      ...(FREQUENCY_CAP ? FREQUENCY_CAP_MIGRATIONS : []),
    ],
  };
}

/** Runs pending migrations; in production at most on an empty database. @throws EnvironmentError */
export function openGatewayDatabase(
  environment: Environment,
  inProduction: 'never' | 'empty',
): Promise<DataSource> {
  const options = dataSourceOptions(environment.DATABASE_URL, gatewayTables(environment));
  return openDatabase(
    new DataSource({ ...options, logger: new SilentTypeOrmLogger() }),
    environment.NODE_ENV === 'production' ? inProduction : 'always',
  );
}
