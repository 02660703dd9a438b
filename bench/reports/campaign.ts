import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';

/** Messages of the campaign, and of one submission of it. */
const MESSAGES = 100_000;
const SUBMISSION = 1_000;

/** Each report raises its message by one rank, so each has a status to write. */
const STEPS = ['expired', 'undelivered', 'failed', 'rejected', 'delivered', 'read'] as const;
const RANKS = [50, 60, 70, 80, 90, 100] as const;
const SENT = 40;

/** Fills the store with a sent campaign without reports. */
export async function seedCampaign(dataSource: DataSource): Promise<string> {
  const id = v7();
  const series = (count: number): string =>
    dataSource.options.type === 'postgres'
      ? `generate_series(0, ${count - 1}) AS v(i)`
      : `(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1}) SELECT i FROM n) AS v`;
  await dataSource.query(
    `INSERT INTO messaging_batch (id, tenant, channel, lane, priority, sender, content, delivery_report, parts,
       recipient_count, created_at, available_at, state, completed_at)
     VALUES ('${id}', '', 'sms', ':sms', 1, 'ACME', '{"kind":"text","text":"Hello"}', 1, 1, ${MESSAGES}, 1, 1, 5, 1)`,
  );
  await dataSource.query(
    `INSERT INTO messaging_submission (batch, n, first_position, last_position, attempt, fence, provider,
       first_sent_at, outcome, reference)
     SELECT '${id}', i, i * ${SUBMISSION}, i * ${SUBMISSION} + ${SUBMISSION - 1}, 1, 1, 'simulator', 1, 1, 'ref-' || i
     FROM ${series(MESSAGES / SUBMISSION)}`,
  );
  await dataSource.query(
    `INSERT INTO messaging_message (batch, position, submission, status, attempt, recipient)
     SELECT '${id}', i, i / ${SUBMISSION}, ${SENT}, 0, '23480' || (10000000 + i) FROM ${series(MESSAGES)}`,
  );
  if (dataSource.options.type === 'postgres')
    await dataSource.query('VACUUM ANALYZE messaging_message');
  return id;
}

/** The n-th callback of the campaign. */
export function callbackBody(batch: string, n: number): string {
  const position = n % MESSAGES;
  const step = STEPS[Math.floor(n / MESSAGES) % STEPS.length] as string;
  const now = new Date().toISOString();
  return (
    `{"type":"sms.delivery_report","timestamp":"${now}","data":{` +
    `"reference_id":"ref-${Math.floor(position / SUBMISSION)}","message_id":"${batch}-${position}",` +
    `"to":"23480${10_000_000 + position}","from":"ACME","status":"${step}","error_code":null,` +
    `"smsc_timestamp":"${now}","sequence":2}}`
  );
}

/** The fields a bare program reads: message id and rank. */
export interface BareReport {
  readonly batch: string;
  readonly position: number;
  readonly rank: number;
  readonly data: Readonly<Record<string, string>>;
}

export function bareReport({ data }: { data: Record<string, string> }): BareReport {
  const id = data['message_id'] as string;
  const rank = RANKS[STEPS.indexOf(data['status'] as (typeof STEPS)[number])] as number;
  return { batch: id.slice(0, 36), position: Number(id.slice(37)), rank, data };
}
