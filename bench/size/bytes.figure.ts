import { simulator, SmsService } from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { setTimeout } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { makeDatabase } from '../harness/database.place.js';
import { inFlight } from '../harness/in.flight.js';
import { startApp } from '../harness/messaging.app.js';
import type { ResultBook } from '../harness/result.book.js';

interface Table {
  readonly table: string;
  readonly rows: number;
  readonly heap: number;
  readonly indexes: number;
}

/** Bytes on PostgreSQL of a delivered message, sent by itself, with two reports. */
export async function measureBytes(
  book: ResultBook,
  name: string,
  { messages }: { readonly messages: number },
): Promise<void> {
  const place = await makeDatabase('postgres');
  const app = await startApp({
    url: place.url,
    messaging: {
      transport: simulator({ reportDelay: 1 }),
      dispatch: { rateLimit: { max: 100_000, per: 1_000 } },
    },
  });
  try {
    const source = app.get(DataSource);
    const empty = await sizes(source);
    const sms = app.get(SmsService);
    let last = '';
    await inFlight(messages, 64, async (n) => {
      const sent = await sms.send({
        from: 'ACME',
        to: numberOf(n),
        body: `Your code is ${100_000 + n}`,
      });
      last = sent.id;
    });
    const reports = async (): Promise<number> => {
      const [row] = await source.query('SELECT count(*)::int AS n FROM messaging_report');
      return row.n;
    };
    while ((await reports()) < messages * 2) await setTimeout(200);
    const { status } = await app.get(MessageHistory).message(`${last}-0`);
    if (status !== 'delivered') throw new Error(`the last message is ${status}`);
    await source.query('VACUUM FULL');
    const full = await sizes(source);
    const per = (bytes: number) => bytes / messages;
    const grown = full.map((table) => {
      const before = empty.find((one) => one.table === table.table);
      return {
        ...table,
        heap: table.heap - (before?.heap ?? 0),
        indexes: table.indexes - (before?.indexes ?? 0),
      };
    });
    book.figure({
      id: 'B',
      database: name,
      what: `bytes of a delivered message with two reports, ${messages.toLocaleString('en')} messages`,
      value: per(grown.reduce((sum, { heap, indexes }) => sum + heap + indexes, 0)),
      goal: ['<=', 900],
    });
    for (const { table, rows, heap, indexes } of grown)
      if (heap + indexes > messages)
        book.figure({
          id: 'B',
          database: name,
          what: `of these in ${table}: ${(rows / messages).toFixed(1)} rows, rows ${per(heap).toFixed(0)}, indexes ${per(indexes).toFixed(0)}`,
          value: per(heap + indexes),
        });
  } finally {
    await app.close();
    await place.remove();
  }
}

/** None of the simulator's special numbers, which end in 99 and two digits. */
function numberOf(n: number): string {
  return `23480${1_000 + Math.floor(n / 9_000)}${String(n % 9_000).padStart(4, '0')}`;
}

function sizes(source: DataSource): Promise<Table[]> {
  return source.query(
    `SELECT c.relname AS table, greatest(c.reltuples, 0)::int AS rows, pg_table_size(c.oid)::int AS heap,
       pg_indexes_size(c.oid)::int AS indexes
     FROM pg_class c WHERE c.relkind = 'r' AND c.relname LIKE 'messaging_%' ORDER BY c.relname`,
  );
}
