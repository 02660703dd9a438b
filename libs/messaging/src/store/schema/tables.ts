import { HAS_WORK } from '../rows/batch-state.js';
import type { TypeNames } from '../database/dialect.js';

/** Number of recipients in a chunk row. */
export const CHUNK_SIZE = 1_000;

/**
 * Columns of the store's tables, equal on every server. Times are epoch microseconds, statuses are
 * ranks.
 */
export function storeColumns(t: TypeNames) {
  return {
    lane: [
      `lane_key ${t.key} NOT NULL`,
      `owner ${t.key}`,
      `fence ${t.big} NOT NULL DEFAULT 0`,
      `lease_until ${t.big} NOT NULL DEFAULT 0`,
      `rate_state ${t.text}`,
      `paused_until ${t.big} NOT NULL DEFAULT 0`,
      `pause_reason ${t.key}`,
    ],
    rate_slot: [`rate_key ${t.key} NOT NULL`, `reserved_until ${t.big} NOT NULL DEFAULT 0`],
    batch: [
      `id ${t.uuid} NOT NULL`,
      `tenant ${t.key} NOT NULL DEFAULT ''`,
      `channel ${t.short(16)} NOT NULL`,
      `lane ${t.key} NOT NULL`,
      `priority ${t.small} NOT NULL`,
      `sender ${t.key} NOT NULL`,
      `content ${t.text}`,
      `delivery_report ${t.small} NOT NULL`,
      `parts ${t.small} NOT NULL`,
      `recipient_count ${t.int} NOT NULL`,
      `denied ${t.int} NOT NULL DEFAULT 0`,
      `created_at ${t.big} NOT NULL`,
      `send_at ${t.big}`,
      `available_at ${t.big} NOT NULL`,
      `valid_until ${t.big}`,
      `state ${t.small} NOT NULL`,
      `parked_until ${t.big} NOT NULL DEFAULT 0`,
      `revision ${t.int} NOT NULL DEFAULT 0`,
      `idempotency_key ${t.key}`,
      `fingerprint ${t.key}`,
      `completed_at ${t.big}`,
      `poll_at ${t.big}`,
      `polls ${t.small} NOT NULL DEFAULT 0`,
    ],
    batch_chunk: [
      `batch ${t.uuid} NOT NULL`,
      `n ${t.int} NOT NULL`,
      `recipients ${t.text} NOT NULL`,
    ],
    submission: [
      `batch ${t.uuid} NOT NULL`,
      `n ${t.int} NOT NULL`,
      `first_position ${t.int} NOT NULL`,
      `last_position ${t.int} NOT NULL`,
      `attempt ${t.small} NOT NULL`,
      `fence ${t.big} NOT NULL`,
      `provider ${t.short(32)} NOT NULL`,
      `first_sent_at ${t.big} NOT NULL`,
      `content ${t.text}`,
      `outcome ${t.small}`,
      `reference ${t.key}`,
      `error_code ${t.key}`,
      `details ${t.text}`,
      `finished_at ${t.big}`,
    ],
    message: [
      `batch ${t.uuid} NOT NULL`,
      `position ${t.int} NOT NULL`,
      `submission ${t.int}`,
      `status ${t.small} NOT NULL`,
      `attempt ${t.small} NOT NULL`,
      `sequence ${t.small} NOT NULL DEFAULT 0`,
      `recipient ${t.address} NOT NULL`,
      `reference ${t.key}`,
      `error_code ${t.short(64)}`,
      `due_at ${t.big}`,
    ],
    report: [
      `hash ${t.uuid}`,
      `tenant ${t.key} NOT NULL DEFAULT ''`,
      `batch ${t.uuid}`,
      `position ${t.int}`,
      `provider ${t.short(32)} NOT NULL`,
      `reference ${t.key}`,
      `message_id ${t.key}`,
      `recipient ${t.address}`,
      `status ${t.small}`,
      `raw_status ${t.key} NOT NULL`,
      `error_code ${t.short(64)}`,
      `provider_time ${t.big}`,
      `received_at ${t.big} NOT NULL`,
      `sequence ${t.small}`,
    ],
  };
}

export type StoreTable = keyof ReturnType<typeof storeColumns>;

/** The primary keys, except the report log's, which each driver generates in its own way. */
export const PRIMARY_KEYS: Readonly<Record<Exclude<StoreTable, 'report'>, string>> = {
  lane: 'lane_key',
  rate_slot: 'rate_key',
  batch: 'id',
  batch_chunk: 'batch, n',
  submission: 'batch, n',
  message: 'batch, position',
};

/**
 * The indexes of servers with partial indexes: name, table, columns, condition. Each serves queries
 * of this folder: `queue` the plans and next-due queries, `content` and `purge` the retention,
 * `poll` the polls for missing reports, `list` a tenant's batches, `open` the takeover of a lane,
 * `reference` the matching of reports.
 */
const PARTIAL_INDEXES: readonly (readonly [string, StoreTable, string, string?])[] = [
  ['lane_held', 'lane', 'lane_key', 'owner IS NOT NULL'],
  ['batch_queue', 'batch', 'lane, priority, parked_until, available_at, id', HAS_WORK],
  // While its missing reports are polled, only the poll index contains a batch.
  [
    'batch_content',
    'batch',
    'completed_at',
    'content IS NOT NULL AND completed_at IS NOT NULL AND poll_at IS NULL',
  ],
  ['batch_purge', 'batch', 'completed_at', 'content IS NULL'],
  ['batch_poll', 'batch', 'poll_at', 'poll_at IS NOT NULL'],
  ['batch_list', 'batch', 'tenant, id'],
  ['submission_open', 'submission', 'batch, n', 'outcome IS NULL'],
  ['submission_reference', 'submission', 'reference', 'reference IS NOT NULL'],
  ['message_reference', 'message', 'reference', 'reference IS NOT NULL'],
  ['report_batch', 'report', 'batch, id', 'batch IS NOT NULL'],
  ['report_waiting', 'report', 'reference', 'batch IS NULL'],
  ['report_waiting_message', 'report', 'message_id', 'batch IS NULL'],
  ['report_unmatched', 'report', 'id', 'batch IS NULL'],
];

/** CREATE statements of {@link PARTIAL_INDEXES} and the two unique ones. */
export function partialIndexes(): string[] {
  const unique = [
    [
      'batch_idempotency',
      'batch',
      'tenant, channel, idempotency_key',
      'idempotency_key IS NOT NULL',
    ],
    ['report_hash', 'report', 'hash', 'hash IS NOT NULL'],
  ] as const;
  const create = (kind: string, [name, table, columns, where]: (typeof PARTIAL_INDEXES)[number]) =>
    `CREATE ${kind} IF NOT EXISTS messaging_${name} ON messaging_${table} (${columns})${where ? ` WHERE ${where}` : ''}`;
  return [
    ...PARTIAL_INDEXES.map((index) => create('INDEX', index)),
    ...unique.map((index) => create('UNIQUE INDEX', index)),
  ];
}
