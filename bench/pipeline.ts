import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';
import { measurePipeline } from './pipeline/pipeline.figure.js';

/** Measures the whole way of a message, and its four stages alone (P2). */
const asked = request({ ms: 0, rounds: 3 }, { ms: 0, rounds: 9 });
const messages = asked.form === 'full' ? 10_000 : 3_000;
const book = new ResultBook('pipeline', asked.form);

for (const kind of await databaseKinds())
  await measurePipeline(book, kind, await describeDatabase(kind), {
    messages,
    rounds: asked.rounds,
  });
await book.close();
