import { expect, it } from '@jest/globals';
import { describeEachDatabase } from '../../support/databases.js';
import { describeUnless } from '../../support/servers.js';

describeEachDatabase(
  'store',
  (db) => {
    it('answers', async () => {
      const source = await db.open();
      expect(await source.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
  },
  ['sqlite', 'postgres'],
);

describeUnless('no redis-server', 'broker of its own on redis', () => {
  it('answers', () => {
    expect(1).toBe(1);
  });
});
