import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { type Count, quantile } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';

const SENDERS = 200;
const BATCH = 100_000;

/** D3: SQL statements per message from `send()` to its recorded outcome, BEGIN and COMMIT included. */
export async function measureStatements(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { messages }: { messages: number },
): Promise<void> {
  const place = await makeDatabase(kind);
  const sink = await Worker.start(new URL('./sink.worker.js', import.meta.url));
  const worker = await Worker.start(new URL('./store.worker.js', import.meta.url), {
    url: place.url,
    sink: await sink.call<string>('address'),
    countStatements: true,
    dispatch: { concurrency: 64 },
  });
  try {
    const live = { n: messages, width: SENDERS };
    await worker.call('live', live);
    const singles = await worker.call<Count & { statements: number }>('live', live);
    book.figure({
      id: 'D3',
      database: name,
      what: `SQL statements per single message, ${SENDERS} senders at once`,
      value: singles.statements / singles.count,
      goal: ['<=', 0.1],
    });
    book.figure({
      id: 'D3',
      database: name,
      what: 'single messages a second, accepted and sent at once',
      value: (singles.count / singles.ms) * 1_000,
    });
    const batch = await worker.call<Count & { statements: number }>('batch', BATCH);
    book.figure({
      id: 'D3',
      database: name,
      what: 'SQL statements per message of a batch of 100,000',
      value: batch.statements / batch.count,
      goal: ['<=', 0.01],
    });
  } finally {
    await worker.stop();
    await sink.stop();
    await place.remove();
  }
}

/** D5: latency of an idle lane from `send()` to the provider's first byte. */
export async function measureLatency(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { messages }: { messages: number },
): Promise<void> {
  const place = await makeDatabase(kind);
  const sink = await Worker.start(new URL('./sink.worker.js', import.meta.url));
  const worker = await Worker.start(new URL('./store.worker.js', import.meta.url), {
    url: place.url,
    sink: await sink.call<string>('address'),
  });
  try {
    for (let n = 0; n < 100; n++) await worker.call('one');
    await sink.call('record');
    const sent: { key: string; given: number; accepted: number }[] = [];
    for (let n = 0; n < messages; n++) {
      sent.push(await worker.call('one'));
      // Long enough for the lane's release.
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    const arrivals = await sink.call<Map<string, number>>('arrivals');
    const after = (from: 'given' | 'accepted') =>
      sent.map((one) => (arrivals.get(one.key) ?? Number.NaN) - one[from]);
    const figure = (what: string, value: number, goal?: number) =>
      book.figure({
        id: 'D5',
        database: name,
        what,
        value,
        unit: ' ms',
        ...(goal !== undefined && { goal: ['<=', goal] as const }),
      });
    figure('accepted → bytes at the provider, idle lane, p50', quantile(after('accepted'), 0.5), 5);
    figure(
      'accepted → bytes at the provider, idle lane, p99',
      quantile(after('accepted'), 0.99),
      25,
    );
    figure('send() called → bytes at the provider, idle lane, p50', quantile(after('given'), 0.5));
    figure('send() called → bytes at the provider, idle lane, p99', quantile(after('given'), 0.99));
  } finally {
    await worker.stop();
    await sink.stop();
    await place.remove();
  }
}
