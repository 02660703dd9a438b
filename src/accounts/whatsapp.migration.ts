import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { accountColumns, ofAccount } from './account-columns.js';

/** WhatsApp numbers and templates of accounts. Tables that exist are left alone. */
export class WhatsApp1700000004000 implements MigrationInterface {
  readonly name = 'WhatsApp1700000004000';

  async up(runner: QueryRunner): Promise<void> {
    const column = accountColumns(runner);
    await runner.createTable(
      new Table({
        name: 'gateway_whatsapp_number',
        columns: [
          column.key('number', 15, { isPrimary: true }),
          column.key('account_id', 32),
          column.time('created_at'),
        ],
        indices: [{ name: 'gateway_whatsapp_number_account', columnNames: ['account_id'] }],
        foreignKeys: [ofAccount('gateway_whatsapp_number')],
      }),
      true,
    );
    await runner.createTable(
      new Table({
        name: 'gateway_whatsapp_template',
        columns: [
          column.key('account_id', 32, { isPrimary: true }),
          column.key('name', 255, { isPrimary: true }),
          column.key('language', 32, { isPrimary: true }),
          column.key('category', 16),
          column.key('status', 16),
          { name: 'params_count', type: 'int' },
          column.time('created_at'),
        ],
        foreignKeys: [ofAccount('gateway_whatsapp_template')],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('gateway_whatsapp_template', true);
    await runner.dropTable('gateway_whatsapp_number', true);
  }
}
