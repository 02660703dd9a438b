import { PrivateMariaDb } from '../support/private-mariadb.js';
import { outages } from './outages.js';

outages({
  type: 'mariadb',
  missing: PrivateMariaDb.missing,
  start: () => PrivateMariaDb.start(),
  cut: async (source) => {
    const others = (await source.query(
      'SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()',
    )) as { id: string | number }[];
    // A connection that has just closed by itself counts as cut.
    for (const { id } of others) await source.query(`KILL ${id}`).catch(() => undefined);
  },
});
