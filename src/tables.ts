import { FREQUENCY_CAP_MIGRATIONS } from '@dundun/messaging';
import { ACCOUNT_TABLES } from './accounts/accounts.tables.js';
import type { Tables } from './config/database.module.js';
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
