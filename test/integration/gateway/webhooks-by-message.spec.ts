import { expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { WEBHOOK_TABLES } from '../../../src/webhooks/webhooks.tables.js';
import { describeEachDatabase } from '../../support/databases.js';

const NAME = 'WebhooksByMessage1790000002355';
const INDEXES = ['gateway_webhook_delivery_message', 'gateway_webhook_attempt_message'];
const TABLES = ['gateway_webhook_delivery', 'gateway_webhook_attempt'];

describeEachDatabase('indexes of callbacks by message', (database) => {
  it('an earlier database gets them, and a migration that broke off goes on', async () => {
    const source: DataSource = await database.open(WEBHOOK_TABLES);
    await source.runMigrations();
    const runner = source.createQueryRunner();
    const found = async () => {
      const tables = await Promise.all(TABLES.map((name) => runner.getTable(name)));
      const names = tables.flatMap((table) => table?.indices.map(({ name }) => name) ?? []);
      return INDEXES.filter((name) => names.includes(name));
    };
    expect(await found()).toEqual(INDEXES);
    const again = async () => {
      await runner.query(`DELETE FROM migrations WHERE name = '${NAME}'`);
      return (await source.runMigrations()).map(({ name }) => name);
    };
    for (const [index, table] of TABLES.entries()) await runner.dropIndex(table, INDEXES[index]!);
    expect(await found()).toEqual([]);
    expect(await again()).toEqual([NAME]);
    expect(await found()).toEqual(INDEXES);
    await runner.dropIndex('gateway_webhook_attempt', 'gateway_webhook_attempt_message');
    expect(await again()).toEqual([NAME]);
    expect(await found()).toEqual(INDEXES);
    await runner.release();
  });
});
