import type { DataSource } from 'typeorm';

/** As the store keeps statuses. Benches use this file, which is compiled apart from the library's sources. */
const STATUS_RANK = { sent: 40, delivered: 90 } as const;

export interface FilledStore {
  /** Batches in a hundred lanes, with all messages delivered. */
  readonly batches: number;
  /** Recipients of each batch. */
  readonly recipients: number;
  /** Lanes known. */
  readonly lanes: number;
  /** Batches to come, in lanes of their own. */
  readonly scheduled: number;
  /** The server gathers no statistics. @default false */
  readonly unseen?: boolean;
}

interface Words {
  /** A relation of `seq` from 1 to `n`. */
  readonly series: (n: number) => string;
  /** A UUID that ends in the number. */
  readonly id: (prefix: string, expression: string) => string;
  readonly text: (prefix: string, expression: string) => string;
  readonly analyse: string;
}

const WORDS: Readonly<Record<'postgres' | 'mariadb' | 'sqlite', Words>> = {
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

/** Gives one lane `each` scheduled, deferred and formerly deferred batches, and analyses the tables. */
export async function fillLane(
  source: DataSource,
  kind: keyof typeof WORDS,
  lane: string,
  each: number,
): Promise<void> {
  const { series, id, analyse } = WORDS[kind];
  const past = '1700000000000000';
  const future = '4000000000000000';
  for (const [prefix, availableAt, deferredUntil] of [
    ['0190cccc', future, '0'],
    ['0190dddd', past, future],
    ['0190eeee', past, past],
  ] as const) {
    await source.query(
      `INSERT INTO messaging_batch (id, tenant, channel, lane, priority, sender, content, delivery_report, parts,
         recipient_count, created_at, available_at, state, parked_until)
       SELECT ${id(prefix, 'seq')}, 'waits', 'sms', '${lane}', 1, 'ACME', '{"kind":"text","text":"Hello"}', 1, 1,
         1, ${past}, ${availableAt} + seq, 1, ${deferredUntil}
       FROM ${series(each)}`,
    );
    await source.query(
      `INSERT INTO messaging_batch_chunk (batch, n, recipients)
       SELECT ${id(prefix, 'seq')}, 0, '2348012345678' FROM ${series(each)}`,
    );
  }
  for (const table of ['batch', 'batch_chunk']) await source.query(`${analyse} messaging_${table}`);
}

/** Gives a tenant so many reports, of the first hundred batches of {@link fillStore} in turn. */
export async function fillReports(
  source: DataSource,
  kind: keyof typeof WORDS,
  tenant: string,
  count: number,
): Promise<void> {
  const { series, id, text, analyse } = WORDS[kind];
  await source.query(
    `INSERT INTO messaging_report (tenant, batch, provider, recipient, status, raw_status, received_at)
     SELECT '${tenant}', ${id('0190aaaa', '1 + seq % 100')}, 'paper', ${text('23480', '10000000 + seq')},
       ${STATUS_RANK.delivered}, 'DELIVRD', 1800000000000000 + seq FROM ${series(count)}`,
  );
  await source.query(`${analyse} messaging_report`);
}

/** Gives a hundred tenants, `tenant 0` and so on, so many notifications together. */
export async function fillNotifications(
  source: DataSource,
  kind: keyof typeof WORDS,
  count: number,
): Promise<void> {
  const { series, id, text, analyse } = WORDS[kind];
  await source.query(
    `INSERT INTO messaging_notification (id, tenant, status, steps, created_at, ended_at)
     SELECT ${id('0190ffff', 'seq')}, ${text('tenant ', 'seq % 100')}, 'delivered',
       '[{"channel":"sms","at":1,"status":"delivered"}]', 1, 1 FROM ${series(count)}`,
  );
  await source.query(`${analyse} messaging_notification`);
}

/**
 * Gives a tenant a batch of which so many requests for 1,000 recipients each were sent: `ref-0` and
 * so on, to numbers from `2348` and eight digits on. All reports are missing. @returns its id
 */
export async function fillUnreported(
  source: DataSource,
  kind: keyof typeof WORDS,
  tenant: string,
  provider: string,
  requests: number,
): Promise<string> {
  const { series, id, text, analyse } = WORDS[kind];
  const batch = '0190abcd-0000-7000-8000-000000000001';
  const sent = String(Date.now() * 1_000);
  await source.query(
    `INSERT INTO messaging_batch (id, tenant, channel, lane, priority, sender, content, delivery_report, parts,
       recipient_count, created_at, available_at, state, completed_at)
     VALUES ('${batch}', '${tenant}', 'sms', 'filled', 1, 'ACME', '{"kind":"text","text":"Hello"}', 0, 1,
       ${requests * 1_000}, ${sent}, ${sent}, 5, ${sent})`,
  );
  await source.query(
    `INSERT INTO messaging_submission (batch, n, first_position, last_position, attempt, fence, provider,
       first_sent_at, outcome, reference, finished_at)
     SELECT ${id('0190abcd', '1')}, seq - 1, (seq - 1) * 1000, seq * 1000 - 1, 1, 1, '${provider}',
       ${sent}, 1, ${text('ref-', 'seq - 1')}, ${sent} FROM ${series(requests)}`,
  );
  for (let n = 0; n < requests; n++)
    await source.query(
      `INSERT INTO messaging_message (batch, position, submission, status, attempt, sequence, recipient)
       SELECT ${id('0190abcd', '1')}, ${n * 1_000 - 1} + seq, ${n}, ${STATUS_RANK.sent}, 1, 1,
         ${text('2348', `${10_000_000 + n * 1_000 - 1} + seq`)} FROM ${series(1_000)}`,
    );
  for (const table of ['batch', 'submission', 'message'])
    await source.query(`${analyse} messaging_${table}`);
  return batch;
}

/**
 * Gives a tenant so many contacts with numbers from `2348` and eight digits on, all of them members
 * of each group. @returns the ids of the groups
 */
export async function fillGroups(
  source: DataSource,
  kind: keyof typeof WORDS,
  tenant: string,
  contacts: number,
  groups: number,
): Promise<string[]> {
  const { series, id, text, analyse } = WORDS[kind];
  await source.query(
    `INSERT INTO messaging_contact (id, tenant, created_at) SELECT ${id('0190abcd', 'seq')}, '${tenant}', 1
     FROM ${series(contacts)}`,
  );
  await source.query(
    `INSERT INTO messaging_contact_address (tenant, address, kind, contact, given_at)
     SELECT '${tenant}', ${text('2348', '9999999 + seq')}, 'phone', ${id('0190abcd', 'seq')}, 1
     FROM ${series(contacts)}`,
  );
  const ids = Array.from({ length: groups }, (_, n) => `grp_000000000${n}`);
  for (const group of ids) {
    await source.query(
      `INSERT INTO messaging_contact_group (id, tenant, name, created_at) VALUES ('${group}', '${tenant}', 'x', 1)`,
    );
    await source.query(
      `INSERT INTO messaging_group_member (group_id, contact) SELECT '${group}', ${id('0190abcd', 'seq')}
       FROM ${series(contacts)}`,
    );
  }
  for (const table of ['contact', 'contact_address', 'contact_group', 'group_member'])
    await source.query(`${analyse} messaging_${table}`);
  return ids;
}

/** Gives a tenant an inbound message of each of the contacts of {@link fillGroups}. */
export async function fillInbound(
  source: DataSource,
  kind: keyof typeof WORDS,
  tenant: string,
  count: number,
): Promise<void> {
  const { series, id, text, analyse } = WORDS[kind];
  await source.query(
    `INSERT INTO messaging_inbound_text (contact, id, tenant, channel, sender, recipient, text, received_at)
     SELECT ${id('0190abcd', 'seq')}, ${id('0190bcde', 'seq')}, '${tenant}', 'whatsapp',
       ${text('2348', '9999999 + seq')}, '2348000000001', 'Hello', 1700000000000000 + seq FROM ${series(count)}`,
  );
  await source.query(`${analyse} messaging_inbound_text`);
}

/** Suppresses so many numbers of a tenant, from `2349` and eight digits on. */
export async function fillSuppressions(
  source: DataSource,
  kind: keyof typeof WORDS,
  tenant: string,
  count: number,
): Promise<void> {
  const { series, text, analyse } = WORDS[kind];
  await source.query(
    `INSERT INTO messaging_suppression (tenant, address, channel, category, reason, at)
     SELECT '${tenant}', ${text('2349', '9999999 + seq')}, 'sms', '*', 'x', 1 FROM ${series(count)}`,
  );
  await source.query(`${analyse} messaging_suppression`);
}

/** Makes a store that has seen much, and the server's statistics of it. */
export async function fillStore(
  source: DataSource,
  kind: keyof typeof WORDS,
  { batches, recipients, lanes, scheduled, unseen = false }: FilledStore,
): Promise<void> {
  const { series, id, text, analyse } = WORDS[kind];
  const batch = id('0190aaaa', 'seq');
  const columns = `id, tenant, channel, lane, priority, sender, content, delivery_report, parts,
    recipient_count, created_at, available_at, state, idempotency_key, completed_at`;
  const content = `'{"kind":"text","text":"Hello"}'`;
  await source.query(
    `INSERT INTO messaging_lane (lane_key) SELECT ${text('tenant ', 'seq')} FROM ${series(lanes)}`,
  );
  await source.query(
    `INSERT INTO messaging_batch (${columns}) SELECT ${batch}, ${text('tenant ', 'seq % 100')}, 'sms',
       ${text('tenant ', 'seq % 100')}, 1, 'ACME', ${content}, 1, 1, ${recipients},
       1700000000000000 + seq, 1700000000000000 + seq, 5, ${text('key ', 'seq')}, 1700000000000000 + seq
     FROM ${series(batches)}`,
  );
  await source.query(
    `INSERT INTO messaging_batch (${columns}) SELECT ${id('0190bbbb', 'seq')}, ${text('tenant ', 'seq')}, 'sms',
       ${text('tenant ', 'seq')}, 1, 'ACME', ${content}, 1, 1, 1,
       1700000000000000 + seq, 4000000000000000 + seq, 0, NULL, NULL
     FROM ${series(scheduled)}`,
  );
  await source.query(
    `INSERT INTO messaging_batch_chunk (batch, n, recipients)
     SELECT ${batch}, 0, '2348012345678' FROM ${series(batches)}`,
  );
  await source.query(
    `INSERT INTO messaging_submission (batch, n, first_position, last_position, attempt, fence, provider,
       first_sent_at, outcome, reference, finished_at)
     SELECT ${batch}, 0, 0, ${recipients - 1}, 1, 1, 'paper', 1700000000000000, 1, ${text('ref ', 'seq')}, 1700000000000000
     FROM ${series(batches)}`,
  );
  for (let position = 0; position < recipients; position++)
    await source.query(
      `INSERT INTO messaging_message (batch, position, submission, status, attempt, recipient, reference)
       SELECT ${batch}, ${position}, 0, ${STATUS_RANK.delivered}, 1, ${text('23480', `10000000 + seq`)}, ${text(`id ${position} `, 'seq')}
       FROM ${series(batches)}`,
    );
  await source.query(
    `INSERT INTO messaging_report (hash, tenant, batch, position, provider, reference, recipient, status,
       raw_status, provider_time, received_at, sequence)
     SELECT ${batch}, ${text('tenant ', 'seq % 100')}, ${batch}, 0, 'paper', ${text('ref ', 'seq')}, '2348012345678', ${STATUS_RANK.delivered},
       'DELIVRD', 1700000000000000, 1700000000000000 + seq, 2
     FROM ${series(batches)}`,
  );
  if (unseen) return;
  for (const table of TABLES) await source.query(`${analyse} messaging_${table}`);
}
