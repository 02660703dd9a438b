import { ACCOUNT_TABLES } from './accounts/accounts.tables.js';
import type { Tables } from './config/data-source.options.js';
import { WEBHOOK_TABLES } from './webhooks/webhooks.tables.js';

/** Every table of the gateway; the ledger's come with the library. */
export const GATEWAY_TABLES: Tables = {
  entities: [...ACCOUNT_TABLES.entities, ...WEBHOOK_TABLES.entities],
  migrations: [...ACCOUNT_TABLES.migrations, ...WEBHOOK_TABLES.migrations],
};
