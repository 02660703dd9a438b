import { createHash } from 'node:crypto';
import pg from 'pg';
import { openRawSqlite, openWal } from '../harness/raw.sqlite.js';
import type { BareReport } from './campaign.js';

/** The limit for the library: statuses and log through the raw driver, with prepared statements. */
export interface RawStatus {
  /** Many reports in one commit: statuses and log rows. */
  storeGroup(reports: readonly BareReport[]): Promise<void>;
  /** One UPDATE, one commit, no log. */
  updateOne(report: BareReport): Promise<void>;
  close(): Promise<void>;
}

export function openRawStatus(url: string): Promise<RawStatus> {
  return url.startsWith('sqlite:') ? openSqlite(url.slice(7)) : openPostgres(url);
}

const LOG = `hash, tenant, batch, position, provider, reference, message_id, recipient, status, raw_status, received_at`;

async function openPostgres(connectionString: string): Promise<RawStatus> {
  const pool = new pg.Pool({ connectionString, max: 10 });
  const update = {
    name: 'update',
    text: `UPDATE messaging_message SET status = v_status, sequence = sequence + 1
      FROM unnest($1::uuid[], $2::int4[], $3::int4[]) AS v(v_batch, v_position, v_status)
      WHERE batch = v_batch AND position = v_position AND status < v_status`,
  };
  const log = {
    name: 'log',
    text: `INSERT INTO messaging_report (${LOG})
      SELECT v_hash, '', v_batch, v_position, 'simulator', v_reference, v_message, v_to, v_status, v_raw, v_at
      FROM unnest($1::uuid[], $2::uuid[], $3::int4[], $4::text[], $5::text[], $6::text[], $7::int4[], $8::text[], $9::int8[])
        AS v(v_hash, v_batch, v_position, v_reference, v_message, v_to, v_status, v_raw, v_at)
      ON CONFLICT (hash) WHERE hash IS NOT NULL DO NOTHING`,
  };
  return {
    storeGroup: async (reports) => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await client.query({
          ...update,
          values: [
            reports.map(({ batch }) => batch),
            reports.map(({ position }) => position),
            reports.map(({ rank }) => rank),
          ],
        });
        const rows = reports.map(logRow);
        const values = Array.from({ length: 9 }, (_, column) => rows.map((row) => row[column]));
        await client.query({ ...log, values });
        await client.query('COMMIT');
      } finally {
        client.release();
      }
    },
    updateOne: async ({ batch, position, rank }) => {
      await pool.query({
        name: 'one',
        text: `UPDATE messaging_message SET status = $3 WHERE batch = $1 AND position = $2 AND status < $3`,
        values: [batch, position, rank],
      });
    },
    close: () => pool.end(),
  };
}

/** Syncs a group off the event loop after its commit, like the library. */
async function openSqlite(path: string): Promise<RawStatus> {
  const database = openRawSqlite(path, 'NORMAL');
  const alone = openRawSqlite(path, 'FULL');
  const wal = openWal(path);
  const update = database.prepare<unknown[]>(
    `UPDATE messaging_message SET status = v.status, sequence = sequence + 1
     FROM (SELECT value ->> 0 AS batch, value ->> 1 AS position, value ->> 2 AS status FROM json_each(?)) AS v
     WHERE messaging_message.batch = v.batch AND messaging_message.position = v.position
       AND messaging_message.status < v.status`,
  );
  const log = database.prepare<unknown[]>(
    `INSERT INTO messaging_report (${LOG})
     SELECT value ->> 0, '', value ->> 1, value ->> 2, 'simulator', value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8
     FROM json_each(?) WHERE 1 = 1 ON CONFLICT (hash) WHERE hash IS NOT NULL DO NOTHING`,
  );
  const one = alone.prepare<unknown[]>(
    'UPDATE messaging_message SET status = ?3 WHERE batch = ?1 AND position = ?2 AND status < ?3',
  );
  return {
    storeGroup: async (reports) => {
      database.exec('BEGIN IMMEDIATE');
      update.run([JSON.stringify(reports.map((r) => [r.batch, r.position, r.rank]))]);
      log.run([JSON.stringify(reports.map(logRow))]);
      database.exec('COMMIT');
      await wal.sync();
    },
    updateOne: async ({ batch, position, rank }) => {
      one.run([batch, position, rank]);
    },
    close: async () => {
      await wal.close();
      alone.close();
      database.close();
    },
  };
}

function logRow({ batch, position, rank, data }: BareReport): unknown[] {
  const { reference_id: reference, message_id: message, to, status } = data;
  const hash = createHash('sha256').update(`${message} ${status}`).digest('hex').slice(0, 32);
  const id = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-${hash.slice(12, 16)}-${hash.slice(16, 20)}-${hash.slice(20)}`;
  return [id, batch, position, reference, message, to, rank, status, Date.now() * 1_000];
}
