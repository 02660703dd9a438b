import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  type TableColumn,
  TableForeignKey,
} from 'typeorm';

/**
 * Entities, and the migration that creates their tables as the decorators describe them. Once it is
 * released, a change of a table is a further migration.
 */
export function tablesOf(migration: string, entities: (new () => object)[]) {
  class CreateTables implements MigrationInterface {
    readonly name = migration;

    /** Skips existing tables: MySQL commits each statement, so a run may have stopped half-way. */
    async up(runner: QueryRunner): Promise<void> {
      const { driver, options } = runner.dataSource;
      for (const entity of entities) {
        const metadata = runner.dataSource.getMetadata(entity);
        const table = Table.create(metadata, driver);
        table.foreignKeys = metadata.foreignKeys.map((key) => TableForeignKey.create(key, driver));
        for (const column of table.columns) adapt(column, options.type);
        await runner.createTable(table, true);
      }
    }

    async down(runner: QueryRunner): Promise<void> {
      for (const entity of entities.toReversed()) {
        const { tableName } = runner.dataSource.getMetadata(entity);
        await runner.query(`DROP TABLE IF EXISTS ${tableName}`);
      }
    }
  }
  return { entities, migrations: [CreateTables] };
}

function adapt(column: TableColumn, server: string): void {
  // SQLite generates numbers for this type only.
  if (server === 'better-sqlite3' && column.isGenerated) column.type = 'integer';
  if (server !== 'mysql' && server !== 'mariadb') return;
  // TypeORM's substitute for this type depends on the version of the server.
  if (column.type === 'uuid' || (column.type === 'varchar' && !column.length))
    Object.assign(column, { type: 'char', length: '36' });
  // By default MySQL ignores case, and takes `acc_a` for `acc_A`.
  if (/char|text/.test(column.type))
    Object.assign(column, { charset: 'utf8mb4', collation: 'utf8mb4_bin' });
}
