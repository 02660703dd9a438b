import type { QueryRunner, TableColumnOptions, TableForeignKeyOptions } from 'typeorm';

/** Gone with its account. */
export function ofAccount(table: string): TableForeignKeyOptions {
  return {
    name: `${table}_of_account`,
    columnNames: ['account_id'],
    referencedTableName: 'gateway_account',
    referencedColumnNames: ['id'],
    onDelete: 'CASCADE',
  };
}

/** Columns of the accounts' tables. Keys are compared byte by byte; MySQL would take `acc_a` for `acc_A` unless told. */
export function accountColumns(runner: QueryRunner) {
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
