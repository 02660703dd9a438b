import { expect } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { DatabaseKind } from './databases.js';
import { eventually } from './eventually.js';

const WAITING = {
  postgres: [
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  ],
  mariadb: [
    // The server caches this view for a tenth of a second.
    'DO sleep(0.2)',
    `SELECT t.trx_id FROM information_schema.innodb_trx t
      JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
      WHERE p.db = DATABASE() AND t.trx_state = 'LOCK WAIT'`,
  ],
};

/** Resolves when `count` sessions of this database wait for a lock. SQLite has no such state. */
export async function untilTransactionsWait(
  kind: DatabaseKind,
  source: DataSource,
  many = 1,
): Promise<void> {
  const statements = WAITING[kind as keyof typeof WAITING];
  await eventually(async () => {
    let waiting: unknown[] = [];
    for (const statement of statements) waiting = await source.query(statement);
    expect(waiting.length).toBeGreaterThanOrEqual(many);
  });
}
