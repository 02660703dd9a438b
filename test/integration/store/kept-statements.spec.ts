import { afterEach, expect, it, jest } from '@jest/globals';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { SqliteDriver } from '../../../src/config/sqlite-driver.js';
import { describeEachDatabase } from '../../support/databases.js';

describeEachDatabase(
  'statements of the store',
  (database) => {
    afterEach(() => {
      jest.restoreAllMocks();
    });

    it('several hundred are prepared once each, however they take turns', async () => {
      const prepare = jest.spyOn(SqliteDriver.prototype, 'prepare');
      const source = await database.open();
      const store = databaseOf(source);
      await store.open();
      const texts = Array.from({ length: 300 }, (_, n) => `SELECT ${n} AS n`);
      for (let round = 0; round < 2; round++) for (const text of texts) await store.all(text);
      const prepared = prepare.mock.calls
        .map(([text]) => text)
        .filter((text) => texts.includes(text));
      expect(prepared).toEqual(texts);
      await store.close();
      await source.destroy();
    });
  },
  ['sqlite'],
);
