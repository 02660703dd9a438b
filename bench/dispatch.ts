import { measureRate } from './dispatch/rate.figure.js';
import { measureLatency, measureStatements } from './dispatch/statements.figure.js';
import { measureThroughput, measureUsualWay } from './dispatch/throughput.figure.js';
import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';

/** Measures dispatch (D1 to D5). `ms` is the time of one rate. */
const asked = request({ ms: 2_000, rounds: 2 }, { ms: 5_000, rounds: 7 });
const full = asked.form === 'full';
const throughput = { messages: full ? 20_000 : 3_000, rounds: asked.rounds };
const book = new ResultBook('dispatch', asked.form);

for (const kind of await databaseKinds()) {
  const name = await describeDatabase(kind);
  if (asked.wants('D1')) await measureThroughput(book, kind, name, throughput);
  if (asked.wants('D2')) await measureUsualWay(book, kind, name, throughput);
  if (asked.wants('D3')) await measureStatements(book, kind, name, throughput);
  if (asked.wants('D4')) await measureRate(book, kind, name, { ms: asked.ms, full });
  if (asked.wants('D5')) await measureLatency(book, kind, name, { messages: full ? 500 : 100 });
}
await book.close();
