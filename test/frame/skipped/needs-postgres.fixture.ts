import { expect, it } from '@jest/globals';
import { describeEachDatabase } from '../../support/databases.js';

describeEachDatabase(
  'ledger',
  (db) => {
    it('answers', async () => {
      const source = await db.open();
      expect(await source.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
  },
  ['sqlite', 'postgres'],
);
