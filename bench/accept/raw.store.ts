import pg from 'pg';
import { v7 } from 'uuid';
import { openRawSqlite, openWal } from '../harness/raw.sqlite.js';

/** A send of the bare programs. */
export interface RawSend {
  readonly id: string;
  readonly sender: string;
  readonly text: string;
  readonly recipients: readonly string[];
}

/**
 * The limit for the gateway: the same rows in the same tables, written through the raw driver
 * with prepared statements and without checks.
 */
export interface RawStore {
  /** Many sends, one commit. */
  storeGroup(sends: readonly RawSend[]): Promise<void>;
  /** One send, one statement, one commit. */
  storeOne(send: RawSend): Promise<void>;
  close(): Promise<void>;
}

const TENANT = 'acc_bench';
const LANE = `${TENANT}:sms`;
const CHUNK = 1_000;

export function rawSend(sender: string, text: string, recipients: readonly string[]): RawSend {
  return { id: v7(), sender, text, recipients };
}

export function openRawStore(url: string): Promise<RawStore> {
  return url.startsWith('sqlite:') ? openSqlite(url.slice(7)) : openPostgres(url);
}

function chunksOf({ id, recipients }: RawSend): [string, number, string][] {
  const chunks: [string, number, string][] = [];
  for (let n = 0; n * CHUNK < recipients.length; n++)
    chunks.push([id, n, recipients.slice(n * CHUNK, (n + 1) * CHUNK).join('\n')]);
  return chunks;
}

const COLUMNS = `id, tenant, channel, lane, priority, sender, content, delivery_report, parts, recipient_count,
  created_at, available_at, state`;

async function openPostgres(connectionString: string): Promise<RawStore> {
  const pool = new pg.Pool({ connectionString, max: 10 });
  const now = '(extract(epoch from clock_timestamp()) * 1000000)::int8';
  const group = {
    name: 'group',
    text: `WITH batches AS (INSERT INTO messaging_batch (${COLUMNS})
      SELECT v_id, '${TENANT}', 'sms', '${LANE}', 1, v_sender, v_content, 0, 1, v_count, ${now}, ${now}, 0
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int4[]) AS v(v_id, v_sender, v_content, v_count))
      INSERT INTO messaging_batch_chunk (batch, n, recipients)
      SELECT * FROM unnest($5::uuid[], $6::int4[], $7::text[])`,
  };
  const one = {
    name: 'one',
    text: `WITH batch AS (INSERT INTO messaging_batch (${COLUMNS})
      VALUES ($1, '${TENANT}', 'sms', '${LANE}', 1, $2, $3, 0, 1, 1, ${now}, ${now}, 0) RETURNING id)
      INSERT INTO messaging_batch_chunk (batch, n, recipients) SELECT id, 0, $4 FROM batch`,
  };
  return {
    storeGroup: async (sends) => {
      const chunks = sends.flatMap(chunksOf);
      await pool.query({
        ...group,
        values: [
          sends.map(({ id }) => id),
          sends.map(({ sender }) => sender),
          sends.map(contentOf),
          sends.map(({ recipients }) => recipients.length),
          ...[0, 1, 2].map((column) => chunks.map((row) => row[column])),
        ],
      });
    },
    storeOne: async (send) => {
      const { id, sender, recipients } = send;
      await pool.query({ ...one, values: [id, sender, contentOf(send), recipients.join('\n')] });
    },
    close: () => pool.end(),
  };
}

/** Syncs a group off the event loop after its commit, like the library. */
async function openSqlite(path: string): Promise<RawStore> {
  const grouped = sqlite(path, 'NORMAL');
  const alone = sqlite(path, 'FULL');
  const wal = openWal(path);
  return {
    storeGroup: async (sends) => {
      grouped.store(sends);
      await wal.sync();
    },
    storeOne: async (send) => alone.store([send]),
    close: async () => {
      await wal.close();
      alone.close();
      grouped.close();
    },
  };
}

function sqlite(path: string, synchronous: 'FULL' | 'NORMAL') {
  const database = openRawSqlite(path, synchronous);
  const now = "CAST(round(unixepoch('subsec') * 1000000) AS INTEGER)";
  const batches = database.prepare<unknown[]>(
    `INSERT INTO messaging_batch (${COLUMNS})
     SELECT value ->> 0, '${TENANT}', 'sms', '${LANE}', 1, value ->> 1, value ->> 2, 0, 1, value ->> 3, ${now}, ${now}, 0
     FROM json_each(?)`,
  );
  const chunks = database.prepare<unknown[]>(
    `INSERT INTO messaging_batch_chunk (batch, n, recipients)
     SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)`,
  );
  return {
    store: (sends: readonly RawSend[]): void => {
      database.exec('BEGIN IMMEDIATE');
      batches.run([
        JSON.stringify(sends.map((s) => [s.id, s.sender, contentOf(s), s.recipients.length])),
      ]);
      chunks.run([JSON.stringify(sends.flatMap(chunksOf))]);
      database.exec('COMMIT');
    },
    close: (): void => void database.close(),
  };
}

function contentOf({ text }: RawSend): string {
  return JSON.stringify({ kind: 'text', text });
}
