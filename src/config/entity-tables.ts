import {
  type DataSource,
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

/**
 * A migration that adds columns to tables of released migrations. On an empty database the tables have
 * them already, because `tablesOf()` creates tables as their entities are now.
 * @param added properties by entity; their columns take NULL or have a default
 */
export function columnsAdded(
  migration: string,
  added: readonly (readonly [entity: new () => object, properties: readonly string[]])[],
): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = migration;

    async up(runner: QueryRunner): Promise<void> {
      for (const [table, column] of columnsOf(runner.dataSource)) {
        if (await runner.hasColumn(table.name, column.name)) continue;
        const type = runner.dataSource.driver.createFullType(column);
        const charset = column.charset ? ` CHARACTER SET ${column.charset}` : '';
        const collation = column.collation ? ` COLLATE ${column.collation}` : '';
        const filled = column.isNullable ? '' : ` NOT NULL DEFAULT ${String(column.default)}`;
        // TypeORM's own way copies the whole table on SQLite.
        await runner.query(
          `ALTER TABLE ${table.name} ADD COLUMN ${column.name} ${type}${charset}${collation}${filled}`,
        );
      }
    }

    async down(runner: QueryRunner): Promise<void> {
      for (const [table, column] of columnsOf(runner.dataSource))
        await runner.query(`ALTER TABLE ${table.name} DROP COLUMN ${column.name}`);
    }
  };

  function columnsOf(dataSource: DataSource): (readonly [Table, TableColumn])[] {
    return added.flatMap(([entity, properties]) => {
      const metadata = dataSource.getMetadata(entity);
      const table = Table.create(metadata, dataSource.driver);
      return properties.flatMap((property) => {
        const name = metadata.findColumnWithPropertyName(property)?.databaseName;
        const column = table.columns.find((one) => one.name === name);
        if (!column) throw new TypeError(`${metadata.name} has no property ${property}`);
        adapt(column, dataSource.options.type);
        return [[table, column] as const];
      });
    });
  }
}

/**
 * A migration that adds indexes to tables of released migrations. On an empty database the tables have
 * them already.
 * @param added names of indexes by entity
 */
export function indexesAdded(
  migration: string,
  added: readonly (readonly [entity: new () => object, name: string])[],
): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = migration;

    async up(runner: QueryRunner): Promise<void> {
      for (const [entity, name] of added) {
        const metadata = runner.dataSource.getMetadata(entity);
        const { indices } = Table.create(metadata, runner.dataSource.driver);
        const index = indices.find((one) => one.name === name);
        if (!index) throw new TypeError(`${metadata.tableName} has no index ${name}`);
        const table = await runner.getTable(metadata.tableName);
        if (table?.indices.some((one) => one.name === name)) continue;
        await runner.createIndex(metadata.tableName, index);
      }
    }

    async down(runner: QueryRunner): Promise<void> {
      for (const [entity, name] of added)
        await runner.dropIndex(runner.dataSource.getMetadata(entity).tableName, name);
    }
  };
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

/**
 * Tables had the character set of the database for columns that migrations add, and such columns may
 * be there already.
 */
export class UnicodeTables1790000000900 implements MigrationInterface {
  readonly name = 'UnicodeTables1790000000900';

  async up(runner: QueryRunner): Promise<void> {
    const { type } = runner.dataSource.options;
    if (type !== 'mysql' && type !== 'mariadb') return;
    const tables = (await runner.query(
      `SELECT t.table_name AS name, EXISTS (SELECT 1 FROM information_schema.columns c
           WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name
             AND c.collation_name <> 'utf8mb4_bin') AS converts
       FROM information_schema.tables t
       WHERE t.table_schema = DATABASE() AND t.table_name LIKE 'gateway\\_%'`,
    )) as { name: string; converts: number }[];
    // A key and the column that it refers to are converted one after the other.
    await runner.query('SET @checks = @@foreign_key_checks, SESSION foreign_key_checks = 0');
    try {
      for (const { name, converts } of tables)
        await runner.query(
          `ALTER TABLE ${name} ${Number(converts) ? 'CONVERT TO' : 'DEFAULT'} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
        );
    } finally {
      await runner.query('SET SESSION foreign_key_checks = @checks');
    }
  }

  /** Wider than before, and of use to every version. */
  async down(): Promise<void> {}
}
