import { expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { ACCOUNT_TABLES } from '../../../src/accounts/accounts.tables.js';
import { describeEachDatabase } from '../../support/databases.js';

const NAME = 'TemplateLengths1790000001100';

describeEachDatabase('lengths of WhatsApp templates', (database) => {
  it('the templates of an earlier database are kept, and their lengths are unknown', async () => {
    const source: DataSource = await database.open(ACCOUNT_TABLES);
    await source.runMigrations();
    const runner = source.createQueryRunner();
    await runner.query(
      `INSERT INTO gateway_account (id, name, created_at) VALUES ('acc_1', 'One', 1767225600000000)`,
    );
    await runner.query(
      `INSERT INTO gateway_whatsapp_template (account_id, name, language, category, status, params_count)
       VALUES ('acc_1', 'sale', 'en', 'marketing', 'approved', 1)`,
    );
    await runner.query('ALTER TABLE gateway_whatsapp_template DROP COLUMN fixed_length');
    await runner.query(`DELETE FROM migrations WHERE name = '${NAME}'`);
    expect((await source.runMigrations()).map(({ name }) => name)).toEqual([NAME]);
    expect(
      await runner.query('SELECT name, params_count, fixed_length FROM gateway_whatsapp_template'),
    ).toEqual([{ name: 'sale', params_count: 1, fixed_length: null }]);
    await runner.release();
  });
});
