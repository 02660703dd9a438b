import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../database-errors.js';
import { dialectOf } from '../dialect.js';
import { tableOptions } from './table-options.js';

/** Names of this library's types in each family of servers. */
export const TYPES = {
  sqlite: {
    uuid: 'TEXT',
    key: 'TEXT',
    text: 'TEXT',
    big: 'INTEGER',
    int: 'INTEGER',
    small: 'INTEGER',
  },
  postgres: {
    uuid: 'uuid',
    key: 'varchar(255)',
    text: 'text',
    big: 'bigint',
    int: 'integer',
    small: 'smallint',
  },
  mysql: {
    uuid: 'CHAR(36)',
    key: 'VARCHAR(255)',
    text: 'LONGTEXT',
    big: 'BIGINT',
    int: 'INT',
    small: 'SMALLINT',
  },
} as const;

/**
 * The store's tables. Times are epoch microseconds, statuses their ranks. `IF NOT EXISTS`
 * throughout: servers that commit each DDL statement may have done half of it.
 */
export class Store1700000000000 implements MigrationInterface {
  readonly name = 'Store1700000000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of this.#statements(runner, await tableOptions(runner)))
      await runner.query(statement).catch((error: unknown) => {
        if (!isDuplicateIndex(error)) throw error;
      });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['report', 'message', 'submission', 'batch_chunk', 'batch', 'lane'])
      await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
  }

  #statements(runner: QueryRunner, options: string): string[] {
    const { kind } = dialectOf(runner.dataSource);
    const t = TYPES[kind];
    const compact = kind === 'sqlite' ? ' WITHOUT ROWID' : '';
    const table = (name: string, columns: string[], key: string, suffix = '') =>
      `CREATE TABLE IF NOT EXISTS messaging_${name} (${[...columns, key].join(', ')})` +
      (options || suffix);
    /** Partial where the server can; elsewhere the condition's columns lead the index. */
    const index = (name: string, on: string, columns: string, where?: string, whole = columns) =>
      kind === 'mysql'
        ? `CREATE INDEX messaging_${name} ON messaging_${on} (${whole})`
        : `CREATE INDEX IF NOT EXISTS messaging_${name} ON messaging_${on} (${columns})${where ? ` WHERE ${where}` : ''}`;
    const unique = (...of: Parameters<typeof index>) =>
      index(...of).replace('INDEX', 'UNIQUE INDEX');
    const serial = {
      sqlite: 'id INTEGER PRIMARY KEY AUTOINCREMENT',
      // Nobody asks for a report by its id alone: the index by tenant is its key.
      postgres: 'id bigint GENERATED ALWAYS AS IDENTITY',
      mysql: 'id BIGINT AUTO_INCREMENT PRIMARY KEY',
    }[kind];
    return [
      table(
        'lane',
        [
          `lane_key ${t.key} NOT NULL`,
          `owner ${t.key}`,
          `fence ${t.big} NOT NULL DEFAULT 0`,
          `lease_until ${t.big} NOT NULL DEFAULT 0`,
          `rate_state ${t.text}`,
          `paused_until ${t.big} NOT NULL DEFAULT 0`,
          `pause_reason ${t.key}`,
          `accepted_at ${t.big} NOT NULL DEFAULT 0`,
        ],
        'PRIMARY KEY (lane_key)',
        compact,
      ),
      table(
        'batch',
        [
          `id ${t.uuid} NOT NULL`,
          `tenant ${t.key} NOT NULL DEFAULT ''`,
          `channel ${kind === 'sqlite' ? 'TEXT' : 'varchar(16)'} NOT NULL`,
          `lane ${t.key} NOT NULL`,
          `class ${t.small} NOT NULL`,
          `sender ${t.key} NOT NULL`,
          `content ${t.text}`,
          `delivery_report ${t.small} NOT NULL`,
          `parts ${t.small} NOT NULL`,
          `recipient_count ${t.int} NOT NULL`,
          `created_at ${t.big} NOT NULL`,
          `send_at ${t.big}`,
          `available_at ${t.big} NOT NULL`,
          `valid_until ${t.big}`,
          `phase ${t.small} NOT NULL`,
          `pending ${t.small} NOT NULL`,
          `requeued ${t.small} NOT NULL DEFAULT 0`,
          `parked_until ${t.big} NOT NULL DEFAULT 0`,
          `revision ${t.int} NOT NULL DEFAULT 0`,
          `idempotency_key ${t.key}`,
          `fingerprint ${t.key}`,
          `completed_at ${t.big}`,
          `poll_at ${t.big}`,
          `polls ${t.small} NOT NULL DEFAULT 0`,
        ],
        'PRIMARY KEY (id)',
        compact,
      ),
      index(
        'batch_due',
        'batch',
        'lane, class, available_at, id',
        'pending = 1',
        'pending, lane, class, available_at, id',
      ),
      // While its missing reports are asked after, a batch is in the index of that alone.
      index(
        'batch_content',
        'batch',
        'completed_at',
        'content IS NOT NULL AND completed_at IS NOT NULL AND poll_at IS NULL',
      ),
      ...(kind === 'mysql'
        ? []
        : [index('batch_purge', 'batch', 'completed_at', 'content IS NULL')]),
      index('batch_poll', 'batch', 'poll_at', 'poll_at IS NOT NULL'),
      unique(
        'batch_idempotency',
        'batch',
        'tenant, channel, idempotency_key',
        'idempotency_key IS NOT NULL',
      ),
      index('batch_list', 'batch', 'tenant, id'),
      table(
        'batch_chunk',
        [`batch ${t.uuid} NOT NULL`, `n ${t.int} NOT NULL`, `recipients ${t.text} NOT NULL`],
        'PRIMARY KEY (batch, n)',
        compact,
      ),
      table(
        'submission',
        [
          `batch ${t.uuid} NOT NULL`,
          `n ${t.int} NOT NULL`,
          `first_position ${t.int} NOT NULL`,
          `last_position ${t.int} NOT NULL`,
          `attempt ${t.small} NOT NULL`,
          `fence ${t.big} NOT NULL`,
          `transport ${kind === 'sqlite' ? 'TEXT' : 'varchar(32)'} NOT NULL`,
          `first_sent_at ${t.big} NOT NULL`,
          `outcome ${t.small}`,
          `reference ${t.key}`,
          `error_code ${t.key}`,
          `details ${t.text}`,
          `finished_at ${t.big}`,
        ],
        'PRIMARY KEY (batch, n)',
        compact,
      ),
      index('submission_open', 'submission', 'batch, n', 'outcome IS NULL', 'outcome, batch, n'),
      index('submission_reference', 'submission', 'reference', 'reference IS NOT NULL'),
      table(
        'message',
        [
          `batch ${t.uuid} NOT NULL`,
          `position ${t.int} NOT NULL`,
          `submission ${t.int}`,
          `status ${t.small} NOT NULL`,
          `attempt ${t.small} NOT NULL`,
          `sequence ${t.small} NOT NULL DEFAULT 0`,
          `recipient ${kind === 'sqlite' ? 'TEXT' : 'varchar(64)'} NOT NULL`,
          `reference ${t.key}`,
          `error_code ${kind === 'sqlite' ? 'TEXT' : 'varchar(64)'}`,
        ],
        'PRIMARY KEY (batch, position)',
        // Its status is written where the row is, and no index learns of it.
        kind === 'postgres' ? ' WITH (fillfactor = 45)' : compact,
      ),
      index('message_reference', 'message', 'reference', 'reference IS NOT NULL'),
      table(
        'report',
        [
          serial,
          `hash ${t.uuid}`,
          `tenant ${t.key} NOT NULL DEFAULT ''`,
          `batch ${t.uuid}`,
          `position ${t.int}`,
          `transport ${kind === 'sqlite' ? 'TEXT' : 'varchar(32)'} NOT NULL`,
          `reference ${t.key}`,
          `message_id ${t.key}`,
          `recipient ${kind === 'sqlite' ? 'TEXT' : 'varchar(64)'}`,
          `status ${t.small}`,
          `raw_status ${t.key} NOT NULL`,
          `error_code ${kind === 'sqlite' ? 'TEXT' : 'varchar(64)'}`,
          `provider_time ${t.big}`,
          `received_at ${t.big} NOT NULL`,
        ],
        `sequence ${t.small}${kind === 'postgres' ? ', PRIMARY KEY (tenant, id)' : ''}`,
      ),
      unique('report_hash', 'report', 'hash', 'hash IS NOT NULL'),
      index('report_batch', 'report', 'batch, id', 'batch IS NOT NULL'),
      ...(kind === 'postgres' ? [] : [index('report_tenant', 'report', 'tenant, id')]),
      index('report_waiting', 'report', 'reference', 'batch IS NULL', 'batch, reference'),
      index('report_waiting_message', 'report', 'message_id', 'batch IS NULL', 'batch, message_id'),
      // MySQL's report_batch holds them too.
      ...(kind === 'mysql' ? [] : [index('report_unmatched', 'report', 'id', 'batch IS NULL')]),
    ];
  }
}
