import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';
import { measureReports } from './reports/throughput.figure.js';

/** Measures delivery reports (R1 and R2). */
const asked = request({ ms: 700, rounds: 5 }, { ms: 1_000, rounds: 15 });
const book = new ResultBook('reports', asked.form);

for (const kind of await databaseKinds())
  await measureReports(book, kind, await describeDatabase(kind), asked);
await book.close();
