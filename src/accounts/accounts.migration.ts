import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  type TableColumnOptions,
  type TableForeignKeyOptions,
} from 'typeorm';

/**
 * Accounts, their credentials and their senders. Tables that exist are left alone: servers that commit
 * each DDL statement may have done half of it.
 */
export class Accounts1700000001000 implements MigrationInterface {
  readonly name = 'Accounts1700000001000';

  async up(runner: QueryRunner): Promise<void> {
    const column = columns(runner);
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

function ofAccount(table: string): TableForeignKeyOptions {
  return {
    name: `${table}_of_account`,
    columnNames: ['account_id'],
    referencedTableName: 'gateway_account',
    referencedColumnNames: ['id'],
    onDelete: 'CASCADE',
  };
}

/** Keys are compared byte by byte; MySQL would take `acc_a` for `acc_A` unless told. */
function columns(runner: QueryRunner) {
  const { type } = runner.dataSource.options;
  const bytewise =
    type === 'mysql' || type === 'mariadb' ? { charset: 'ascii', collation: 'ascii_bin' } : {};
  return {
    key: (
      name: string,
      length: number,
      more: Partial<TableColumnOptions> = {},
    ): TableColumnOptions => ({
      name,
      type: 'varchar',
      length: String(length),
      ...bytewise,
      ...more,
    }),
    time: (name: string, more: Partial<TableColumnOptions> = {}): TableColumnOptions => ({
      name,
      type: 'bigint',
      ...more,
    }),
  };
}
