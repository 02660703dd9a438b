import pg from 'pg';
import { v7 } from 'uuid';
import { migrated } from '../harness/data.source.js';
import { openRawSqlite, openWal } from '../harness/raw.sqlite.js';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';

interface Campaign {
  readonly recipients: readonly { readonly email: string; readonly variables: object }[];
  readonly [field: string]: unknown;
}

/** One row of a table of chunks: batch, n, text. */
type Chunk = readonly [string, number, string];

interface RawCampaigns {
  store(
    id: string,
    content: string,
    count: number,
    rows: readonly (readonly Chunk[])[],
  ): Promise<void>;
  close(): Promise<void>;
}

const CHUNK = 1_000;
const COLUMNS = `id, tenant, channel, lane, priority, sender, content, delivery_report, parts, recipient_count,
  created_at, available_at, state`;

let campaigns: RawCampaigns;

/** JSON.parse and the same rows by the raw driver, without checks: the limit of this machine. */
serve({
  start: async ({ url }: { url: string }) => {
    await (await migrated(url)).destroy();
    campaigns = url.startsWith('sqlite:') ? openSqlite(url.slice(7)) : openPostgres(url);
  },
  accept: async (bytes: Uint8Array): Promise<Count> => {
    const begun = performance.now();
    const { recipients, ...content } = JSON.parse(Buffer.from(bytes).toString('utf8')) as Campaign;
    const id = v7();
    const chunks = (lineOf: (one: (typeof recipients)[number]) => string): Chunk[] => {
      const rows: Chunk[] = [];
      for (let n = 0; n * CHUNK < recipients.length; n++) {
        const own = recipients.slice(n * CHUNK, (n + 1) * CHUNK);
        rows.push([id, n, own.map(lineOf).join('\n')]);
      }
      return rows;
    };
    await campaigns.store(id, JSON.stringify({ kind: 'email', ...content }), recipients.length, [
      chunks(({ email }) => email),
      chunks(({ variables }) => JSON.stringify({ variables })),
    ]);
    return { count: 1, ms: performance.now() - begun };
  },
  stop: () => campaigns.close(),
});

function openPostgres(connectionString: string): RawCampaigns {
  const pool = new pg.Pool({ connectionString, max: 1 });
  const now = '(extract(epoch from clock_timestamp()) * 1000000)::int8';
  const text = `WITH batch AS (INSERT INTO messaging_batch (${COLUMNS})
      VALUES ($1, '', 'email', ':email', 1, 'orders@shop.example', $2, 0, 1, $3, ${now}, ${now}, 0)),
    chunks AS (INSERT INTO messaging_batch_chunk (batch, n, recipients)
      SELECT * FROM unnest($4::uuid[], $5::int4[], $6::text[]))
    INSERT INTO messaging_batch_personal (batch, n, entries)
      SELECT * FROM unnest($7::uuid[], $8::int4[], $9::text[])`;
  return {
    store: async (id, content, count, rows) => {
      const columns = rows.flatMap((own) =>
        [0, 1, 2].map((column) => own.map((row) => row[column])),
      );
      await pool.query({ name: 'campaign', text, values: [id, content, count, ...columns] });
    },
    close: () => pool.end(),
  };
}

function openSqlite(path: string): RawCampaigns {
  const database = openRawSqlite(path, 'NORMAL');
  const wal = openWal(path);
  const now = "CAST(round(unixepoch('subsec') * 1000000) AS INTEGER)";
  const batch = database.prepare<unknown[]>(`INSERT INTO messaging_batch (${COLUMNS})
    VALUES (?, '', 'email', ':email', 1, 'orders@shop.example', ?, 0, 1, ?, ${now}, ${now}, 0)`);
  const tables = [
    database.prepare<unknown[]>(
      'INSERT INTO messaging_batch_chunk (batch, n, recipients) VALUES (?, ?, ?)',
    ),
    database.prepare<unknown[]>(
      'INSERT INTO messaging_batch_personal (batch, n, entries) VALUES (?, ?, ?)',
    ),
  ];
  return {
    store: async (id, content, count, rows) => {
      database.exec('BEGIN IMMEDIATE');
      batch.run([id, content, count]);
      tables.forEach((insert, index) => rows[index]?.forEach((row) => insert.run([...row])));
      database.exec('COMMIT');
      await wal.sync();
    },
    close: async () => {
      await wal.close();
      database.close();
    },
  };
}
