import type { DataSource } from 'typeorm';
import type { Dialect } from './dialect.js';
import { dialectOf } from './open-store.js';

/** What SQLite, PostgreSQL and MySQL/MariaDB say differently about many rows at once. Statements are written with `?`. */
export interface BulkStatements extends Pick<
  Dialect,
  'kind' | 'rows' | 'updateFrom' | 'placeholders'
> {
  /** Database time in epoch milliseconds. */
  readonly now: string;
}

/**
 * For an app's own tables beside the store's, such as the outbox a transactional listener writes: many
 * rows as one relation, bound by few parameters, on every server the store runs on.
 *
 * @example
 * const sql = bulkStatementsOf(dataSource);
 * const rows = sql.rows({ v_id: 'uuid', v_text: 'text' });
 * const insert = sql.placeholders(`INSERT INTO outbox (id, text) SELECT v_id, v_text FROM ${rows.sql}`);
 * await manager.query(insert, rows.bind([[id, text]]));
 * @throws MessagingConfigError for any other server
 */
export function bulkStatementsOf(dataSource: DataSource): BulkStatements {
  const dialect = dialectOf(dataSource);
  return { ...dialect, now: `(${dialect.div(dialect.now, '1000')})` };
}
