import { measureBatch } from './accept/batch.figure.js';
import { measureConcurrentSends } from './accept/concurrent.figure.js';
import { measureProducts } from './accept/products.figure.js';
import { measureSingles } from './accept/singles.figure.js';
import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';

/** Measures acceptance (A1 to A4). */
const asked = request({ ms: 600, rounds: 5 }, { ms: 1_000, rounds: 15 });
const book = new ResultBook('accept', asked.form);

for (const kind of await databaseKinds()) {
  const name = await describeDatabase(kind);
  if (asked.wants('A1')) await measureSingles(book, kind, name, asked);
  if (asked.wants('A2')) await measureBatch(book, kind, name, asked);
  if (asked.wants('A3')) await measureConcurrentSends(book, kind, name, asked);
  if (asked.wants('A4')) await measureProducts(book, kind, name, asked);
}
await book.close();
