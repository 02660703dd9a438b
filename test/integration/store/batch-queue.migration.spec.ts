import { beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { BatchQueue1700000000340 } from '../../../libs/messaging/src/store/migrations/batch-queue.migration.js';
import { migrate } from '../../../libs/messaging/src/store/migrator.js';
import { STORE_MIGRATIONS } from '../../../libs/messaging/src/store/schema.js';
import { type DatabaseKind, describeEachDatabase } from '../../support/databases.js';

const BEFORE = STORE_MIGRATIONS.filter((migration) => migration !== BatchQueue1700000000340);

const INDEXES: Readonly<Record<DatabaseKind, string>> = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'messaging_batch'`,
  postgres: `SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'messaging_batch'`,
  mariadb: `SELECT DISTINCT index_name AS name FROM information_schema.statistics WHERE table_schema = database() AND table_name = 'messaging_batch'`,
};
const HALF_DONE: Readonly<Record<DatabaseKind, string>> = {
  sqlite: `CREATE INDEX messaging_batch_queue ON messaging_batch (lane, class, parked_until, available_at, id) WHERE pending = 1`,
  postgres: `CREATE INDEX messaging_batch_queue ON messaging_batch (lane, class, parked_until, available_at, id) WHERE pending = 1`,
  mariadb: `CREATE INDEX messaging_batch_queue ON messaging_batch (pending, lane, class, parked_until, available_at, id)`,
};

describeEachDatabase('the index of waiting batches', (database) => {
  let source: DataSource;
  const waiting = async () =>
    ((await source.query(INDEXES[database.kind])) as { name: string }[])
      .map(({ name }) => name)
      .filter((name) => /_(due|queue)$/.test(name));
  const run = async (direction: 'up' | 'down') => {
    const runner = source.createQueryRunner();
    await new BatchQueue1700000000340()[direction](runner);
    await runner.release();
  };

  beforeAll(async () => {
    source = await database.open({ entities: [], migrations: [] });
    await migrate(source, BEFORE);
  });

  it('takes the place of the one before it, also where that was left half done or is done again', async () => {
    expect(await waiting()).toEqual(['messaging_batch_due']);
    await source.query(HALF_DONE[database.kind]);
    await migrate(source, STORE_MIGRATIONS);
    expect(await waiting()).toEqual(['messaging_batch_queue']);
    await run('up');
    expect(await waiting()).toEqual(['messaging_batch_queue']);
  });

  it('gives way to it again', async () => {
    await run('down');
    await run('down');
    expect(await waiting()).toEqual(['messaging_batch_due']);
    await run('up');
    expect(await waiting()).toEqual(['messaging_batch_queue']);
  });
});
