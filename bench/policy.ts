import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';
import { measurePolicy } from './policy/send.figure.js';

/** Measures the cost of policy at `send()` (P1). */
const asked = request({ ms: 0, rounds: 5 }, { ms: 0, rounds: 21 });
const book = new ResultBook('policy', asked.form);

for (const kind of await databaseKinds())
  if (asked.wants('P1')) await measurePolicy(book, kind, await describeDatabase(kind), asked);
await book.close();
