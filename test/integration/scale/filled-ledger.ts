import type { DataSource } from 'typeorm';
import { STATUS_RANK } from '../../../libs/messaging/src/message/status.js';
import type { DatabaseKind } from '../../support/databases.js';

const BATCHES = 40_000;
/** Of each batch. */
const RECIPIENTS = 5;
const LANES = 10_000;
/** Batches for next year, in lanes of their own. */
const SCHEDULED = 5_000;

interface Words {
  /** A relation of `seq` from 1 to `n`. */
  readonly series: (n: number) => string;
  /** A UUID that ends in the number. */
  readonly id: (prefix: string, expression: string) => string;
  readonly text: (prefix: string, expression: string) => string;
  readonly analyse: string;
}

const WORDS: Readonly<Record<DatabaseKind, Words>> = {
  postgres: {
    series: (n) => `generate_series(1, ${n}) AS s(seq)`,
    id: (prefix, expression) =>
      `('${prefix}-0000-7000-8000-' || lpad((${expression})::text, 12, '0'))::uuid`,
    text: (prefix, expression) => `'${prefix}' || (${expression})`,
    analyse: 'VACUUM ANALYZE',
  },
  mariadb: {
    series: (n) => `seq_1_to_${n} AS s`,
    id: (prefix, expression) => `concat('${prefix}-0000-7000-8000-', lpad(${expression}, 12, '0'))`,
    text: (prefix, expression) => `concat('${prefix}', ${expression})`,
    analyse: 'ANALYZE TABLE',
  },
  sqlite: {
    series: (n) =>
      `(WITH RECURSIVE s(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM s WHERE seq < ${n}) SELECT seq FROM s) AS s`,
    id: (prefix, expression) => `'${prefix}-0000-7000-8000-' || printf('%012d', ${expression})`,
    text: (prefix, expression) => `'${prefix}' || (${expression})`,
    analyse: 'ANALYZE',
  },
};

const TABLES = ['lane', 'batch', 'batch_chunk', 'submission', 'message', 'report'];

/** A ledger that has seen 200,000 messages, and the servers' statistics of it. */
export async function fillLedger(source: DataSource, kind: DatabaseKind): Promise<void> {
  const { series, id, text, analyse } = WORDS[kind];
  const batch = id('0190aaaa', 'seq');
  const columns = `id, tenant, channel, lane, class, sender, content, delivery_report, parts,
    recipient_count, created_at, available_at, phase, pending, idempotency_key, completed_at`;
  const content = `'{"kind":"text","text":"Hello"}'`;
  await source.query(
    `INSERT INTO messaging_lane (lane_key) SELECT ${text('tenant ', 'seq')} FROM ${series(LANES)}`,
  );
  await source.query(
    `INSERT INTO messaging_batch (${columns}) SELECT ${batch}, ${text('tenant ', 'seq % 100')}, 'sms',
       ${text('tenant ', 'seq % 100')}, 1, 'ACME', ${content}, 1, 1, ${RECIPIENTS},
       1700000000000000 + seq, 1700000000000000 + seq, 2, 0, ${text('key ', 'seq')}, 1700000000000000 + seq
     FROM ${series(BATCHES)}`,
  );
  await source.query(
    `INSERT INTO messaging_batch (${columns}) SELECT ${id('0190bbbb', 'seq')}, ${text('tenant ', 'seq')}, 'sms',
       ${text('tenant ', 'seq')}, 1, 'ACME', ${content}, 1, 1, 1,
       1700000000000000 + seq, 4000000000000000 + seq, 0, 1, NULL, NULL
     FROM ${series(SCHEDULED)}`,
  );
  await source.query(
    `INSERT INTO messaging_batch_chunk (batch, n, recipients)
     SELECT ${batch}, 0, '2348012345678' FROM ${series(BATCHES)}`,
  );
  await source.query(
    `INSERT INTO messaging_submission (batch, n, first_position, last_position, attempt, fence, transport,
       first_sent_at, outcome, reference, finished_at)
     SELECT ${batch}, 0, 0, ${RECIPIENTS - 1}, 1, 1, 'paper', 1700000000000000, 1, ${text('ref ', 'seq')}, 1700000000000000
     FROM ${series(BATCHES)}`,
  );
  for (let position = 0; position < RECIPIENTS; position++)
    await source.query(
      `INSERT INTO messaging_message (batch, position, submission, status, attempt, recipient, reference)
       SELECT ${batch}, ${position}, 0, ${STATUS_RANK.delivered}, 1, ${text('23480', `10000000 + seq`)}, ${text(`id ${position} `, 'seq')}
       FROM ${series(BATCHES)}`,
    );
  await source.query(
    `INSERT INTO messaging_report (hash, tenant, batch, position, transport, reference, recipient, status,
       raw_status, provider_time, received_at, sequence)
     SELECT ${batch}, ${text('tenant ', 'seq % 100')}, ${batch}, 0, 'paper', ${text('ref ', 'seq')}, '2348012345678', ${STATUS_RANK.delivered},
       'DELIVRD', 1700000000000000, 1700000000000000, 2
     FROM ${series(BATCHES)}`,
  );
  for (const table of TABLES) await source.query(`${analyse} messaging_${table}`);
}
