import { expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { WEBHOOK_TABLES } from '../../../src/webhooks/webhooks.tables.js';
import { describeEachDatabase } from '../../support/databases.js';

const NAME = 'WebhookMakers1790000001110';
const ID = '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd';

describeEachDatabase('makers of webhooks', (database) => {
  it('the webhooks of an earlier database keep their events, every kind where they chose none', async () => {
    const source: DataSource = await database.open(WEBHOOK_TABLES);
    await source.runMigrations();
    const runner = source.createQueryRunner();
    await runner.query('ALTER TABLE gateway_webhook_endpoint DROP COLUMN made_for');
    await runner.query(
      `INSERT INTO gateway_webhook_endpoint (id, account_id, slot, url, secret, created_at)
       VALUES ('${ID}', 'acc_1', 0, 'https://example.com', 'x', 1767225600000)`,
    );
    await runner.query(`DELETE FROM migrations WHERE name = '${NAME}'`);
    expect((await source.runMigrations()).map(({ name }) => name)).toEqual([NAME]);
    expect(await runner.query('SELECT events, made_for FROM gateway_webhook_endpoint')).toEqual([
      { events: null, made_for: 'kept' },
    ]);
    await runner.release();
  });
});
