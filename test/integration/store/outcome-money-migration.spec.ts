import { expect, it } from '@jest/globals';
import { DataSource, type MigrationInterface } from 'typeorm';
import { SilentTypeOrmLogger } from '../../../src/config/database.js';
import { MESSAGING_MIGRATIONS, migrateDatabase } from '@dundun/messaging/migrations';
import { OutcomeMoney1790000002350 } from '../../../libs/messaging/src/store/schema/outcome-money.migration.js';
import { OUTCOME_SUMS } from '../../../libs/messaging/src/store/schema/outcomes.js';
import { describeEachDatabase } from '../../support/databases.js';

const COUNTS = OUTCOME_SUMS.filter((name) => name !== 'price' && name !== 'cost');
const KEY = "3600000000, 'one', 'sms', 'main', 'NG', 'ACME', '', '', 90";

describeEachDatabase('counts of outcomes of the version before', (database) => {
  const open = (migrations: readonly (new () => MigrationInterface)[]) =>
    new DataSource({
      ...database.options({ entities: [], migrations: [...migrations] }),
      logger: new SilentTypeOrmLogger(),
    }).initialize();

  it('get money without a change of their counts, and lose it again; one row of several currencies', async () => {
    const before = await open(
      MESSAGING_MIGRATIONS.filter(
        (migration) => !/^Outcome(?:Money|Totals)/.test(String(new migration().name)),
      ),
    );
    await migrateDatabase(before);
    const counts = COUNTS.map((_, n) => n + 1).join(', ');
    const names = `start, tenant, channel, provider, country, sender, tag, category, status`;
    await before.query(
      `INSERT INTO messaging_outcome_hour (${names}, minutes, ${COUNTS.join(', ')}) VALUES (${KEY}, 60, ${counts})`,
    );
    await before.destroy();

    const after = await open(MESSAGING_MIGRATIONS);
    await migrateDatabase(after);
    const rows = () =>
      after.query<Record<string, string | number>[]>(
        'SELECT * FROM messaging_outcome_hour ORDER BY messages',
      );
    const [migrated] = await rows();
    expect(migrated).toMatchObject({ tenant: 'one', currency: '', cost_currency: '' });
    expect(COUNTS.map((name) => Number(migrated?.[name]))).toEqual(COUNTS.map((_, n) => n + 1));
    expect([Number(migrated?.['price']), Number(migrated?.['cost'])]).toEqual([0, 0]);
    const [total] = await after.query<Record<string, string | number>[]>(
      'SELECT * FROM messaging_outcome_total',
    );
    expect(total).not.toHaveProperty('tenant');
    expect(COUNTS.map((name) => Number(total?.[name]))).toEqual(COUNTS.map((_, n) => n + 1));
    // The currencies are part of the key.
    await after.query(
      `INSERT INTO messaging_outcome_hour (${names}, currency, cost_currency, minutes, price, cost, ${COUNTS.join(', ')})
       VALUES (${KEY}, 'NGN', 'USD', 60, 4500000000000, 3, ${COUNTS.map(() => 1).join(', ')})`,
    );
    expect((await rows()).map(({ price }) => Number(price))).toEqual([0, 4_500_000_000_000]);

    const runner = after.createQueryRunner();
    const migration = new OutcomeMoney1790000002350();
    await migration.down(runner);
    const [one, ...others] = await rows();
    expect(others).toEqual([]);
    expect(one).not.toHaveProperty('currency');
    expect(COUNTS.map((name) => Number(one?.[name]))).toEqual(COUNTS.map((_, n) => n + 2));
    await migration.up(runner);
    expect((await rows()).map(({ messages, price }) => [messages, Number(price)])).toEqual([
      [2, 0],
    ]);
    await runner.release();
    await after.destroy();
  });
});
