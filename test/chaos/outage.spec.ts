import { outages } from './outages.js';
import { PrivatePostgres } from './private-postgres.js';

outages({
  type: 'postgres',
  missing: PrivatePostgres.missing,
  start: () => PrivatePostgres.start(),
  cut: async (source) => {
    await source.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
  },
});
