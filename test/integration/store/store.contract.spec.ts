import { beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { StatusListeners } from '../../../libs/messaging/src/ports/listeners.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { BATCH_TEXT_MIGRATIONS } from '../../../libs/messaging/src/store/schema/batch-text.js';
import { CANCELLATION_MIGRATIONS } from '../../../libs/messaging/src/store/schema/cancellation.js';
import { STORE_MIGRATIONS } from '../../../libs/messaging/src/store/schema/store.migration.js';
import { StoreBench, type StoreContractSetup } from './contract/store-bench.js';
import {
  CONTRACT_CHANNELS,
  storeContract,
  textsOfStoreContract,
} from './contract/store.contract.js';
import {
  describeEachDatabase,
  describeEachEncoding,
  inEachSession,
  type TestDatabase,
} from '../../support/databases.js';
import { untilTransactionsWait } from '../../support/lock-waits.js';

const MIGRATIONS = [...STORE_MIGRATIONS, ...CANCELLATION_MIGRATIONS, ...BATCH_TEXT_MIGRATIONS];

describeEachDatabase('the store contract', (database) => {
  storeContract(setupOn(database), { describe, it });
});

describeEachEncoding('the store contract', (database) => {
  textsOfStoreContract(setupOn(database), { describe, it });
});

describeEachDatabase(
  'the store contract, where sessions begin without a strict mode,',
  (database) => {
    const setup = setupOn(database, (options) => inEachSession(options, "sql_mode = ''"));
    textsOfStoreContract(setup, { describe, it });

    it('a text that is longer than its column is not cut, also in a caller’s transaction, whose own mode stays', async () => {
      const bench = new StoreBench(setup);
      const store = await bench.open();
      const { dataSource } = store.database;
      const long = () => bench.batch(1, { sender: 'x'.repeat(300) });
      await expect(store.newBatches.enqueue(long())).rejects.toThrow(/too long/i);
      await dataSource.transaction(async (manager) => {
        await manager.query('CREATE TEMPORARY TABLE own (a VARCHAR(2))');
        const tx = store.database.join(manager);
        const results = await Promise.allSettled([
          store.newBatches.enqueueWithin(tx, long()),
          store.newBatches.enqueueWithin(tx, long()),
        ]);
        expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
        await store.newBatches.enqueueWithin(tx, bench.batch(1));
        await manager.query("INSERT INTO own VALUES ('abc')");
        expect(await manager.query('SELECT a, @@sql_mode AS mode FROM own')).toEqual([
          { a: 'ab', mode: '' },
        ]);
      });
      const { data } = await store.reads.batches({ tenants: [bench.scope.tenant] }, { limit: 9 });
      expect(data.map(({ sender }) => sender)).toEqual(['ACME']);
      await bench.close();
    });

    it('a statement that begins while another of the transaction is in flight cuts no text either', async () => {
      const bench = new StoreBench(setup);
      const store = await bench.open();
      await store.database.dataSource.transaction(async (manager) => {
        await manager.query('CREATE TEMPORARY TABLE own (a VARCHAR(2))');
        const tx = store.database.join(manager);
        const slow = tx.all('SELECT SLEEP(0.2)');
        // Answered after the mode of the first statement is set, so that the statement is sent.
        await manager.query('SELECT 1');
        const results = await Promise.allSettled([slow, tx.run("INSERT INTO own VALUES ('abc')")]);
        expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
        expect(await manager.query('SELECT @@sql_mode AS mode')).toEqual([{ mode: '' }]);
      });
      await bench.close();
    });
  },
  ['mariadb'],
);

function setupOn(
  database: TestDatabase,
  changed: (options: DataSourceOptions) => DataSourceOptions = (options) => options,
): StoreContractSetup {
  let elsewhere: DataSource;
  beforeAll(async () => {
    elsewhere = await database.open();
  });
  return {
    locksRows: database.kind !== 'sqlite',
    writesSideBySide: database.kind === 'postgres',
    lockWaited: () => untilTransactionsWait(database.kind, elsewhere),
    open: async ({
      fastPaths = true,
      listeners = new StatusListeners(),
      clock = systemClock,
      cancelling = [],
    } = {}) => {
      const options = database.options({ entities: [], migrations: [] });
      const source = await new DataSource(changed(options)).initialize();
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
          cancelling,
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
  };
}
