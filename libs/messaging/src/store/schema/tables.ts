import type { ValueTransformer } from 'typeorm';
import { BATCH_STATE, HAS_WORK, PRIORITY } from '../rows/batch-state.js';
import { SUBMISSION_OUTCOME } from '../rows/outcome.js';
import type { TypeNames } from '../database/dialect.js';
import { columnsSql, entitiesOf, FLAG, wordsOf } from './columns.js';

/** Number of recipients in a chunk row. */
export const CHUNK_SIZE = 1_000;

/** Most bytes of an attachment in a row, below a server's limit of one statement. */
export const PIECE_SIZE = 4 * 1_024 * 1_024;

/** Columns of the store's tables. Times are epoch microseconds, statuses are ranks. */
const COLUMNS = {
  lane: {
    lane_key: 'key NOT NULL',
    owner: 'key',
    fence: 'big NOT NULL DEFAULT 0',
    lease_until: 'big NOT NULL DEFAULT 0',
    rate_state: 'text',
    paused_until: 'big NOT NULL DEFAULT 0',
    pause_provider: 'short(32)',
    /** `code: text`. */
    pause_reason: 'key',
    /** 1: the pause is of one provider, and the lane goes on with the others. */
    pause_part: 'small NOT NULL DEFAULT 0',
  },
  /** See `Hold`. */
  hold: {
    lanes: 'key NOT NULL',
    reason: 'short(32) NOT NULL',
    since: 'big NOT NULL',
    /** End of the hold; null: it ends by its release. */
    until_at: 'big',
    note: 'key',
  },
  /**
   * One row: the copy of the database that sends. Its `mark` differs in a restored dump of PostgreSQL;
   * elsewhere it is a random one, see `Holds.identity()`.
   */
  instance: { id: 'small NOT NULL', mark: 'key' },
  rate_slot: { rate_key: 'key NOT NULL', reserved_until: 'big NOT NULL DEFAULT 0' },
  /** A provider that accepts nothing now; gone once it accepts. */
  provider_pause: {
    provider: 'short(32) NOT NULL',
    paused_until: 'big NOT NULL',
    /** Until then one process alone sends it a message, to find out. */
    probed_until: 'big NOT NULL DEFAULT 0',
    reason: 'key NOT NULL',
    /** Pauses since it last accepted a message. */
    trips: 'int NOT NULL',
  },
  /** One send for all its recipients; its id is the `reference_id`. */
  batch: {
    id: 'uuid NOT NULL',
    tenant: "key NOT NULL DEFAULT ''",
    channel: 'short(16) NOT NULL',
    lane: 'key NOT NULL',
    /** 0 high, 1 normal. */
    priority: 'small NOT NULL',
    sender: 'key NOT NULL',
    /** JSON; null after retention erased it. */
    content: 'text',
    /** 1: yes, 0: none. */
    delivery_report: 'small NOT NULL',
    parts: 'small NOT NULL',
    recipient_count: 'int NOT NULL',
    /** 1: the batch has rows in `batch_label`, or had them. */
    labelled: 'small NOT NULL DEFAULT 0',
    /** 1: the app's spend guard accepted the batch. */
    guarded: 'small NOT NULL DEFAULT 0',
    /** Recipients that policy denied at acceptance; they come first. */
    denied: 'int NOT NULL DEFAULT 0',
    created_at: 'big NOT NULL',
    send_at: 'big',
    /** Position in the lane: time of acceptance, or `send_at` if later. */
    available_at: 'big NOT NULL',
    valid_until: 'big',
    /** See `BATCH_STATE`. */
    state: 'small NOT NULL',
    /** Deferred until this time, after a failure or by policy; 0: never deferred. */
    parked_until: 'big NOT NULL DEFAULT 0',
    /** Incremented by each cancel and reschedule. */
    revision: 'int NOT NULL DEFAULT 0',
    idempotency_key: 'key',
    fingerprint: 'key',
    /** Start of the restored copy whose operator settled the batch as in doubt. */
    in_doubt_at: 'big',
    /** The notification of which the batch is a step. */
    notification: 'uuid',
    completed_at: 'big',
    /** Time of the next poll for missing reports; null: no report is missing. */
    poll_at: 'big',
    polls: 'small NOT NULL DEFAULT 0',
  },
  /** Up to {@link CHUNK_SIZE} recipients of a batch, one per line. */
  batch_chunk: { batch: 'uuid NOT NULL', n: 'int NOT NULL', recipients: 'text NOT NULL' },
  /** Names and variables of the recipients of the chunk `n`, one JSON text or empty line for each. */
  batch_personal: { batch: 'uuid NOT NULL', n: 'int NOT NULL', entries: 'text NOT NULL' },
  /** Bytes of a batch's attachments by their digest, in pieces of {@link PIECE_SIZE}. */
  batch_attachment: {
    batch: 'uuid NOT NULL',
    digest: 'short(64) NOT NULL',
    n: 'int NOT NULL',
    bytes: 'bytes NOT NULL',
  },
  /** A tag of a batch; empty where the batch has metadata alone. */
  batch_label: {
    batch: 'uuid NOT NULL',
    n: 'int NOT NULL',
    tenant: "key NOT NULL DEFAULT ''",
    tag: 'short(64) NOT NULL',
    /** JSON of all tags and the metadata, in the row with `n` 0. */
    labels: 'text',
  },
  /** One request to the provider; `{batch}-s{n}` is its idempotency key. */
  submission: {
    batch: 'uuid NOT NULL',
    n: 'int NOT NULL',
    first_position: 'int NOT NULL',
    last_position: 'int NOT NULL',
    /** Positions of its messages, where it has not all from first to last; see `PositionList`. */
    members: 'text',
    attempt: 'small NOT NULL',
    fence: 'big NOT NULL',
    provider: 'short(32) NOT NULL',
    /** Why the route chose the provider; null: by its order. */
    reason: 'text',
    first_sent_at: 'big NOT NULL',
    /** JSON of the content that policy substituted for the batch's. */
    content: 'text',
    /** See `SUBMISSION_OUTCOME`; null while it is unanswered. */
    outcome: 'small',
    reference: 'key',
    error_code: 'key',
    /** The provider's words of its last failure. */
    error_text: 'text',
    /** JSON of further fields of the submit response. */
    details: 'text',
    finished_at: 'big',
  },
  /** One recipient's message. Rows are always a prefix of the batch. */
  message: {
    batch: 'uuid NOT NULL',
    position: 'int NOT NULL',
    submission: 'int',
    status: 'small NOT NULL',
    /** Number of requests with the message. */
    attempt: 'small NOT NULL',
    /** Failures that count against `maxAttempts`. */
    counted_failures: 'small NOT NULL DEFAULT 0',
    sequence: 'small NOT NULL DEFAULT 0',
    recipient: 'address NOT NULL',
    reference: 'key',
    error_code: 'short(64)',
    /** Providers of its route that have refused it; see `Refusals`. */
    refused_by: 'key',
    /** Earliest start of a deferred message. */
    due_at: 'big',
  },
  /** A message that an operator sent again, and the batch of its repetition. */
  resend: {
    batch: 'uuid NOT NULL',
    position: 'int NOT NULL',
    new_batch: 'uuid NOT NULL',
    resent_by: 'key',
    resent_at: 'big NOT NULL',
  },
  /** A notification to one recipient over several channels; each step is a batch. */
  notification: {
    id: 'uuid NOT NULL',
    tenant: "key NOT NULL DEFAULT ''",
    status: 'short(16) NOT NULL',
    /** JSON of the steps, in their order. */
    steps: 'text NOT NULL',
    /** JSON of the messages of further steps, and when they begin; null: no further step. */
    plan: 'text',
    created_at: 'big NOT NULL',
    ended_at: 'big',
    /** When its steps are looked at; 0: at once, null: after the next report. */
    due_at: 'big',
    idempotency_key: 'key',
    fingerprint: 'key',
  },
  /** Append-only log of reports; `batch` is null until the report matches. */
  report: {
    /** Identifies the report; null for a submit's outcome, which is written once. */
    hash: 'uuid',
    tenant: "key NOT NULL DEFAULT ''",
    batch: 'uuid',
    position: 'int',
    provider: 'short(32) NOT NULL',
    reference: 'key',
    message_id: 'key',
    recipient: 'address',
    status: 'small',
    raw_status: 'key NOT NULL',
    error_code: 'short(64)',
    provider_time: 'big',
    received_at: 'big NOT NULL',
    sequence: 'small',
    /** JSON of further data; written apart, as few reports have any. */
    details: 'text',
  },
  /** An erasure of one address that has not ended. */
  erasure: {
    id: 'uuid NOT NULL',
    tenant: "key NOT NULL DEFAULT ''",
    address: 'address NOT NULL',
    /** Last batch of the tenant that was read; null: none. */
    after: 'uuid',
    /** 1: every batch was read. */
    walked: 'small NOT NULL DEFAULT 0',
    /** JSON of the messages that are in flight: `[[batch, position], …]`. */
    places: 'text NOT NULL',
    /** The process that works on it moves this time ahead. */
    due_at: 'big NOT NULL',
  },
} as const;

export type StoreTable = keyof typeof COLUMNS;

export function storeColumns(types: TypeNames): Record<StoreTable, string[]> {
  return Object.fromEntries(
    Object.entries(COLUMNS).map(([table, columns]) => [table, columnsSql(columns, types)]),
  ) as Record<StoreTable, string[]>;
}

/** Each driver generates the ids of the report log in its own way. */
export const PRIMARY_KEYS: Readonly<Record<StoreTable, string>> = {
  lane: 'lane_key',
  hold: 'lanes, reason',
  instance: 'id',
  rate_slot: 'rate_key',
  provider_pause: 'provider',
  batch: 'id',
  batch_chunk: 'batch, n',
  batch_personal: 'batch, n',
  batch_attachment: 'batch, digest, n',
  batch_label: 'batch, n',
  submission: 'batch, n',
  message: 'batch, position',
  resend: 'batch, position',
  notification: 'id',
  report: 'id',
  erasure: 'id',
};

/** @param status of the statuses of messages, which channels define */
export function storeEntities(status: ValueTransformer) {
  return entitiesOf(
    { ...COLUMNS, report: { id: 'big NOT NULL', ...COLUMNS.report } },
    PRIMARY_KEYS,
    {
      batch: {
        priority: wordsOf(PRIORITY),
        state: wordsOf(BATCH_STATE),
        delivery_report: FLAG,
        labelled: FLAG,
        guarded: FLAG,
      },
      submission: { outcome: wordsOf(SUBMISSION_OUTCOME) },
      message: { status },
      report: { status },
      erasure: { walked: FLAG },
    },
  );
}

/**
 * Name, table, columns, condition. `queue` serves plans and next-due queries, `content` and `purge`
 * the retention, `list` a tenant's batches, `submission_open` the takeover of a lane.
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
  ['batch_label_list', 'batch_label', 'tenant, tag, batch'],
  ['submission_open', 'submission', 'batch, n', 'outcome IS NULL'],
  [
    'submission_unknown',
    'submission',
    'provider, first_sent_at',
    `outcome = ${SUBMISSION_OUTCOME.unknown}`,
  ],
  ['submission_reference', 'submission', 'reference', 'reference IS NOT NULL'],
  ['message_reference', 'message', 'reference', 'reference IS NOT NULL'],
  ['resend_new', 'resend', 'new_batch'],
  ['notification_due', 'notification', 'due_at', 'due_at IS NOT NULL'],
  ['notification_planned', 'notification', 'tenant, id', 'plan IS NOT NULL'],
  ['notification_ended', 'notification', 'ended_at', 'ended_at IS NOT NULL'],
  ['report_batch', 'report', 'batch, id', 'batch IS NOT NULL'],
  ['report_waiting', 'report', 'reference', 'batch IS NULL'],
  ['report_waiting_message', 'report', 'message_id', 'batch IS NULL'],
  ['report_unmatched', 'report', 'id', 'batch IS NULL'],
];

const UNIQUE_INDEXES: typeof PARTIAL_INDEXES = [
  ['batch_idempotency', 'batch', 'tenant, channel, idempotency_key', 'idempotency_key IS NOT NULL'],
  ['report_hash', 'report', 'hash', 'hash IS NOT NULL'],
  [
    'notification_idempotency',
    'notification',
    'tenant, idempotency_key',
    'idempotency_key IS NOT NULL',
  ],
];

export function partialIndexes(): string[] {
  const create = (kind: string, [name, table, columns, where]: (typeof PARTIAL_INDEXES)[number]) =>
    `CREATE ${kind} IF NOT EXISTS messaging_${name} ON messaging_${table} (${columns})${where ? ` WHERE ${where}` : ''}`;
  return [
    ...PARTIAL_INDEXES.map((index) => create('INDEX', index)),
    ...UNIQUE_INDEXES.map((index) => create('UNIQUE INDEX', index)),
  ];
}
