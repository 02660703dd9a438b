import { beforeAll, describe, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { StatusListeners } from '../../../libs/messaging/src/ports/listeners.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { CANCELLATION_MIGRATIONS } from '../../../libs/messaging/src/store/schema/cancellation.js';
import { STORE_MIGRATIONS } from '../../../libs/messaging/src/store/schema/store.migration.js';
import {
  CONTRACT_CHANNELS,
  storeContract,
} from '../../../libs/messaging/src/store/store.contract.js';
import { describeEachDatabase } from '../../support/databases.js';
import { untilTransactionsWait } from '../../support/lock-waits.js';

const MIGRATIONS = [...STORE_MIGRATIONS, ...CANCELLATION_MIGRATIONS];

describeEachDatabase('the store contract', (database) => {
  let elsewhere: DataSource;
  beforeAll(async () => {
    elsewhere = await database.open();
  });

  storeContract(
    {
      locksRows: database.kind !== 'sqlite',
      writesSideBySide: database.kind === 'postgres',
      lockWaited: () => untilTransactionsWait(database.kind, elsewhere),
      open: async ({
        fastPaths = true,
        listeners = new StatusListeners(),
        clock = systemClock,
      } = {}) => {
        const source = await database.open({ entities: [], migrations: [] });
        const store = await MessageStore.open(
          source,
          {
            migrate: true,
            migrations: { wanted: MIGRATIONS, known: MIGRATIONS },
            preparedStatements: true,
            leaseTime: 30_000,
            idempotencyWindow: 3_600_000,
            pollAfter: 60_000,
            giveUpAfter: 3_600_000,
            retention: { content: 1_000, messages: 1_000 },
            fastPaths,
          },
          {
            channels: CONTRACT_CHANNELS,
            clock,
            events: { wants: () => false, publish: () => undefined },
            listeners,
          },
        );
        const close = store.close.bind(store);
        // Each store has a pool of its own; all of them together would exceed the server's connections.
        return Object.assign(store, {
          close: async () => {
            await close();
            await source.destroy();
          },
        });
      },
    },
    { describe, it },
  );
});
