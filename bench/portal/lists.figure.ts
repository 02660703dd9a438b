import { DataSource } from 'typeorm';
import { fillGroups, fillStore } from '../../test/support/filled-store.js';
import { dataSourceOptions } from '../harness/data.source.js';
import { type DatabaseKind, describeDatabase, makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { quantile } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';

const RECIPIENTS = 5;
/** Milliseconds at the 95th percentile. */
const GOAL = 50;
const ID = '0190aaaa-0000-7000-8000-';

export interface ListsExtent {
  readonly messages: number;
  /** Calls of each list. */
  readonly calls: number;
}

/** W1: time of a list or search on the server, in a store of so many messages. */
export async function measureLists(
  book: ResultBook,
  kind: DatabaseKind,
  { messages, calls }: ListsExtent,
): Promise<void> {
  const name = await describeDatabase(kind);
  const place = await makeDatabase(kind);
  const worker = await Worker.start(new URL('./app.worker.js', import.meta.url), {
    url: place.url,
  });
  try {
    const batches = messages / RECIPIENTS;
    const source = await new DataSource(dataSourceOptions(place.url)).initialize();
    // The app beside it writes, too.
    await source.query(
      kind === 'postgres' ? 'SET synchronous_commit = off' : 'PRAGMA busy_timeout = 60000',
    );
    await fillStore(source, kind, {
      batches,
      recipients: RECIPIENTS,
      lanes: 1_000,
      scheduled: 1_000,
    });
    await fillGroups(source, kind, 'tenant 1', Math.min(messages / 10, 100_000), 1);
    await source.destroy();
    const address = await worker.call<string>('address');
    const some = (n: number) => 1 + ((n * 7_919) % batches);
    const id = (n: number) => ID + String(some(n)).padStart(12, '0');
    const number = (n: number) => `23480${10_000_000 + some(n)}`;
    const cursors = new Map<string, string>();
    const lists: Readonly<Record<string, (n: number) => string>> = {
      'messages of all tenants': () => 'messages?limit=50',
      'messages of one tenant, page by page': () =>
        `messages?limit=50&tenant=tenant%201&cursor=${cursors.get('pages') ?? ''}`,
      'messages by status without any match': () => 'messages?limit=50&status=failed',
      'messages by provider without any match': () => 'messages?limit=50&provider=none',
      'messages by number': (n) => `messages?limit=50&to=${number(n)}`,
      'messages by number of one tenant': (n) =>
        `messages?limit=50&tenant=tenant%20${some(n) % 100}&to=${number(n)}`,
      'messages by id of a batch': (n) => `messages?limit=50&reference=${id(n)}`,
      'messages by the id of the provider': (n) => `messages?reference=id%200%20${some(n)}`,
      'messages of a time': () => 'messages?limit=50&since=2024-01-01&until=2024-01-02',
      'one message with its timeline': (n) => `messages/${id(n)}-0`,
      'batches of all tenants': () => 'batches?limit=20',
      'batches of one tenant by status': () => 'batches?limit=20&tenant=tenant%201&status=sending',
      'one batch': (n) => `batches/${id(n)}`,
      contacts: () => 'contacts?limit=50&tenant=tenant%201',
      'contact by number': (n) => `contacts?tenant=tenant%201&q=2348${10_000_000 + n}`,
      changes: () => `changes?since=${cursors.get('changes') ?? ''}`,
    };
    for (const [what, pathOf] of Object.entries(lists)) {
      const times: number[] = [];
      for (let n = 0; n < calls + 5; n++) {
        const start = performance.now();
        const answer = await fetch(new URL(`api/${pathOf(n)}`, address));
        const body = (await answer.json()) as { nextCursor?: string | null; cursor?: string };
        if (!answer.ok) throw new Error(`${what}: ${answer.status}`);
        if (n >= 5) times.push(performance.now() - start);
        if (what.includes('page by page')) cursors.set('pages', body.nextCursor ?? '');
        if (what === 'changes') cursors.set('changes', body.cursor ?? '');
      }
      book.figure({
        id: 'W1',
        database: name,
        what: `${what}, p95 at ${messages.toLocaleString('en')} messages`,
        value: quantile(times, 0.95),
        unit: ' ms',
        goal: ['<=', GOAL],
      });
    }
  } finally {
    await worker.stop();
    await place.remove();
  }
}
