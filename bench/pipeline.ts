import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';
import { measurePipeline } from './pipeline/pipeline.figure.js';
import { measureReplicas } from './pipeline/replicas.figure.js';

/** Measures the whole way of a message, its four stages alone (P2, T1), and two processes (X1). */
const asked = request({ ms: 0, rounds: 3 }, { ms: 0, rounds: 9 });
const messages = asked.form === 'full' ? 10_000 : 3_000;
const book = new ResultBook('pipeline', asked.form);

for (const kind of await databaseKinds()) {
  const name = await describeDatabase(kind);
  const extent = { messages, rounds: asked.rounds };
  if (asked.wants('P2')) await measurePipeline(book, kind, name, extent);
  if (asked.wants('X1') && kind === 'postgres') await measureReplicas(book, name, extent);
}
await book.close();
