import type { DataSource } from 'typeorm';
import type { DatabaseKind } from '../support/databases.js';

/** Rows that describe columns, indexes and constraints, whatever statements made them. */
const DESCRIPTIONS: Readonly<Record<DatabaseKind, readonly string[]>> = {
  sqlite: [
    `SELECT t.name AS of_table, c.name, c.type, c."notnull", c.dflt_value, c.pk
     FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
    `SELECT t.name AS of_table, k."from", k."table", k."to", k.on_delete
     FROM sqlite_master t, pragma_foreign_key_list(t.name) k WHERE t.type = 'table'`,
    `SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`,
  ],
  postgres: [
    `SELECT table_name, column_name, udt_name, character_maximum_length, is_nullable, column_default, is_identity
     FROM information_schema.columns WHERE table_schema = 'public'`,
    `SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'`,
    `SELECT conrelid::regclass::text AS of_table, conname, pg_get_constraintdef(oid) AS is
     FROM pg_constraint WHERE connamespace = 'public'::regnamespace`,
    `SELECT relname, reloptions::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  ],
  // TypeORM's own table has the character set of the database.
  mariadb: [
    `SELECT table_name, column_name, column_type, is_nullable, column_default, collation_name, extra
     FROM information_schema.columns WHERE table_schema = database() AND table_name <> 'migrations'`,
    `SELECT table_name, index_name, seq_in_index, column_name, sub_part, non_unique
     FROM information_schema.statistics WHERE table_schema = database()`,
    `SELECT table_name, constraint_name, constraint_type
     FROM information_schema.table_constraints WHERE table_schema = database()`,
    `SELECT table_name, engine, row_format, table_collation
     FROM information_schema.tables WHERE table_schema = database() AND table_name <> 'migrations'`,
  ],
};

/** TypeORM's own table, in the collation of the database. */
const OWN = /^\["migrations"/;

/** The tables of a database, without the order in which columns came to be. */
export async function tablesOf(source: DataSource, kind: DatabaseKind): Promise<string[]> {
  const lines: string[] = [];
  for (const statement of DESCRIPTIONS[kind]) {
    const rows = await source.query<Record<string, unknown>[]>(statement);
    lines.push(
      ...rows
        .map((row) => Object.values(row))
        // TypeORM's own, in the default character set of the database.
        .filter(([table]) => table !== 'migrations')
        .map((values) => JSON.stringify(values)),
    );
  }
  return lines.filter((line) => !OWN.test(line)).toSorted();
}
