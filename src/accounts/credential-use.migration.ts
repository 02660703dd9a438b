import { type MigrationInterface, type QueryRunner, TableColumn } from 'typeorm';

const COLUMNS = ['expires_at', 'last_used_at'];

/** When a credential ends by itself, and when it was last used. Epoch milliseconds. */
export class CredentialUse1700000003000 implements MigrationInterface {
  readonly name = 'CredentialUse1700000003000';

  async up(runner: QueryRunner): Promise<void> {
    for (const name of COLUMNS)
      // Servers that commit each DDL statement may have done half of it.
      if (!(await runner.hasColumn('gateway_credential', name)))
        await runner.addColumn(
          'gateway_credential',
          new TableColumn({ name, type: 'bigint', isNullable: true }),
        );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of COLUMNS) await runner.dropColumn('gateway_credential', name);
  }
}
