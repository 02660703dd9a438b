import { partialIndexes, PRIMARY_KEYS, storeColumns } from '../schema/tables.js';
import { SQLITE_DIALECT } from './dialect.js';

export async function sqliteSchema(): Promise<string[]> {
  const { report, ...tables } = storeColumns(SQLITE_DIALECT.types);
  // SQLite's clock counts milliseconds; the lane's clock orders the batches of one millisecond.
  tables.lane.push('accepted_at INTEGER NOT NULL DEFAULT 0');
  return [
    ...Object.entries(tables).map(
      ([name, columns]) => `CREATE TABLE IF NOT EXISTS messaging_${name} (${columns.join(', ')},
        PRIMARY KEY (${PRIMARY_KEYS[name as keyof typeof tables]})) WITHOUT ROWID`,
    ),
    `CREATE TABLE IF NOT EXISTS messaging_report (id INTEGER PRIMARY KEY AUTOINCREMENT, ${report.join(', ')})`,
    ...partialIndexes(),
    'CREATE INDEX IF NOT EXISTS messaging_report_tenant ON messaging_report (tenant, id)',
  ];
}
