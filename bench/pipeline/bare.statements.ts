import type { RawStatement } from '../harness/raw.database.js';

/** A message of the bare program; its batch has this one recipient. */
export interface BareMessage {
  readonly batch: string;
  readonly sender: string;
  readonly to: string;
  readonly content: string;
  /** The carrier's id of the submission, once it has answered. */
  readonly reference?: string;
}

/** A callback to the customer. */
export interface BareDelivery {
  readonly id: string;
  readonly messageId: string;
  readonly sequence: number;
  readonly payload: string;
}

export interface BareReport {
  readonly hash: string;
  readonly messageId: string;
  readonly reference: string;
}

export interface BareAttempt {
  readonly delivery: BareDelivery;
  readonly startedAt: number;
  readonly duration: number;
}

const ENDPOINT = '00000000-0000-7000-8000-000000000001';

/** A value of the rows, not of the text: a plan for a constant may read another index. */
const FIRST = 0;

const micros = () => Date.now() * 1_000;

/** The rows of the gateway for a message of one recipient, without its checks. */
export const ACCEPTED: readonly RawStatement<BareMessage>[] = [
  {
    name: 'batch',
    types: ['uuid', 'text', 'text', 'int8'],
    of: ({ batch, sender, content }) => [batch, sender, content, micros()],
    sql: `INSERT INTO messaging_batch (id, tenant, channel, lane, priority, sender, content,
      delivery_report, parts, recipient_count, created_at, available_at, state)
      SELECT a, 'acc_bench', 'sms', 'acc_bench:sms', 1, b, c, 1, 1, 1, d, d, 0 FROM v`,
  },
  {
    name: 'chunk',
    types: ['uuid', 'text'],
    of: ({ batch, to }) => [batch, to],
    sql: 'INSERT INTO messaging_batch_chunk (batch, n, recipients) SELECT a, 0, b FROM v',
  },
];

export const INTENDED: readonly RawStatement<BareMessage>[] = [
  {
    name: 'live',
    types: ['uuid'],
    of: ({ batch }) => [batch],
    sql: 'UPDATE messaging_batch SET state = 4 FROM v WHERE id = a',
  },
  {
    name: 'submission',
    types: ['uuid', 'int8'],
    of: ({ batch }) => [batch, micros()],
    sql: `INSERT INTO messaging_submission (batch, n, first_position, last_position, attempt, fence,
      provider, first_sent_at) SELECT a, 0, 0, 0, 1, 1, 'main', b FROM v`,
  },
  {
    name: 'message',
    types: ['uuid', 'text'],
    of: ({ batch, to }) => [batch, to],
    sql: `INSERT INTO messaging_message (batch, position, submission, status, attempt, recipient)
      SELECT a, 0, 0, 20, 1, b FROM v`,
  },
];

const idOf = ({ batch, reference }: BareMessage) => [batch, reference];

export const SETTLED: readonly RawStatement<BareMessage>[] = [
  {
    name: 'closed',
    types: ['uuid', 'int4', 'text', 'int8'],
    of: ({ batch, reference }) => [batch, FIRST, reference, micros()],
    sql: `UPDATE messaging_submission SET outcome = 1, reference = c, finished_at = d FROM v
      WHERE batch = a AND n = b`,
  },
  {
    name: 'sent',
    types: ['uuid', 'int4', 'text'],
    of: ({ batch, reference }) => [batch, FIRST, `${reference}-0`],
    sql: `UPDATE messaging_message SET status = 40, sequence = 1, reference = c FROM v
      WHERE batch = a AND position = b AND status < 40`,
  },
  {
    name: 'submitted',
    types: ['uuid', 'text', 'text', 'int8'],
    of: (message) => [...idOf(message), message.to, micros()],
    sql: `INSERT INTO messaging_report (tenant, batch, position, provider, reference, recipient,
      status, raw_status, received_at, sequence)
      SELECT 'acc_bench', a, 0, 'main', b, c, 40, 'submit', d, 1 FROM v`,
  },
  {
    name: 'completed',
    types: ['uuid', 'int8'],
    of: ({ batch }) => [batch, micros()],
    sql: 'UPDATE messaging_batch SET state = 5, completed_at = b FROM v WHERE id = a',
  },
];

/** Returns `batch` and `reference` of the messages that it raises. */
export const DELIVERED: RawStatement<BareReport> = {
  name: 'delivered',
  types: ['text'],
  of: ({ messageId }) => [messageId],
  sql: `UPDATE messaging_message SET status = 90, sequence = 2 FROM v
    WHERE reference = a AND status < 90 RETURNING batch, reference, recipient`,
};

export const REPORTED: RawStatement<BareReport & { batch: string; recipient: string }> = {
  name: 'reported',
  types: ['uuid', 'uuid', 'text', 'text', 'text', 'int8'],
  of: ({ hash, batch, reference, messageId, recipient }) => [
    hash,
    batch,
    reference,
    messageId,
    recipient,
    micros(),
  ],
  sql: `INSERT INTO messaging_report (hash, tenant, batch, position, provider, reference, message_id,
    recipient, status, raw_status, received_at, sequence)
    SELECT a, 'acc_bench', b, 0, 'main', c, d, e, 90, 'delivered', f, 2 FROM v WHERE true
    ON CONFLICT (hash) WHERE hash IS NOT NULL DO NOTHING`,
};

export const OUTBOX: RawStatement<BareDelivery> = {
  name: 'outbox',
  types: ['uuid', 'text', 'int4', 'text', 'int8'],
  of: ({ id, messageId, sequence, payload }) => [id, messageId, sequence, payload, Date.now()],
  sql: `INSERT INTO gateway_webhook_delivery (id, endpoint_id, message_id, sequence, type, payload,
    created_at) SELECT a, '${ENDPOINT}', b, c, 'sms.delivery', d, e FROM v`,
};

export const TOLD: readonly RawStatement<BareAttempt>[] = [
  {
    name: 'told',
    types: ['uuid', 'uuid', 'int8'],
    of: ({ delivery, startedAt, duration }) => [ENDPOINT, delivery.id, startedAt + duration],
    // Both columns of the unique index are of the rows: otherwise SQLite reads all of the endpoint.
    sql: `UPDATE gateway_webhook_delivery SET attempts = 1, revision = revision + 1, due_at = NULL,
      delivered_at = c FROM v WHERE endpoint_id = a AND id = b`,
  },
  {
    name: 'attempt',
    types: ['uuid', 'text', 'int8', 'int4'],
    of: ({ delivery, startedAt, duration }) => [
      delivery.id,
      delivery.messageId,
      startedAt,
      duration,
    ],
    sql: `INSERT INTO gateway_webhook_attempt (endpoint_id, delivery_id, message_id, attempt,
      started_at, duration, status) SELECT '${ENDPOINT}', a, b, 1, c, d, 200 FROM v`,
  },
];

/** Makes the newest callbacks due again. */
export const REDELIVERED: RawStatement<readonly [count: number, now: number]> = {
  name: 'redelivered',
  types: ['int4', 'int8'],
  of: (given) => given,
  sql: `UPDATE gateway_webhook_delivery SET attempts = 0, revision = revision + 1, due_at = b,
    delivered_at = NULL FROM v
    WHERE position > (SELECT max(position) FROM gateway_webhook_delivery) - a
    RETURNING id, message_id AS "messageId", sequence, payload`,
};
