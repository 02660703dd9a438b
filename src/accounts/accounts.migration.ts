import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';
import { accountColumns, ofAccount } from './account-columns.js';

/**
 * Accounts, their credentials and their senders. Tables that exist are left alone: servers that commit
 * each DDL statement may have done half of it.
 */
export class Accounts1700000001000 implements MigrationInterface {
  readonly name = 'Accounts1700000001000';

  async up(runner: QueryRunner): Promise<void> {
    const column = accountColumns(runner);
    await runner.createTable(
      new Table({
        name: 'gateway_account',
        columns: [
          column.key('id', 32, { isPrimary: true }),
          { name: 'name', type: 'varchar', length: '100' },
          column.time('created_at'),
          column.time('suspended_at', { isNullable: true }),
        ],
      }),
      true,
    );
    await runner.createTable(
      new Table({
        name: 'gateway_credential',
        columns: [
          column.key('id', 32, { isPrimary: true }),
          column.key('account_id', 32),
          column.key('kind', 16),
          column.key('fingerprint', 64),
          column.key('last_four', 4),
          { name: 'scopes', type: 'text' },
          column.time('created_at'),
          column.time('revoked_at', { isNullable: true }),
        ],
        indices: [
          { name: 'gateway_credential_fingerprint', columnNames: ['fingerprint'], isUnique: true },
          { name: 'gateway_credential_account', columnNames: ['account_id'] },
        ],
        foreignKeys: [ofAccount('gateway_credential')],
      }),
      true,
    );
    await runner.createTable(
      new Table({
        name: 'gateway_sender',
        columns: [
          column.key('account_id', 32, { isPrimary: true }),
          column.key('sender', 11, { isPrimary: true }),
          column.time('created_at'),
        ],
        foreignKeys: [ofAccount('gateway_sender')],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('gateway_sender', true);
    await runner.dropTable('gateway_credential', true);
    await runner.dropTable('gateway_account', true);
  }
}
