import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';
import { measureBytes } from './size/bytes.figure.js';
import { measureMemory } from './size/memory.figure.js';
import { measureStart } from './size/start.figure.js';

/** Measures bytes per message, resident memory and the time to start (B). */
const asked = request({ ms: 0, rounds: 3 }, { ms: 0, rounds: 9 });
const full = asked.form === 'full';
const book = new ResultBook('size', asked.form);

for (const kind of await databaseKinds()) {
  const name = await describeDatabase(kind);
  await measureStart(book, kind, name, asked);
  await measureMemory(book, kind, name, { restMs: full ? 60_000 : 30_000 });
  if (kind === 'postgres') await measureBytes(book, name, { messages: full ? 50_000 : 10_000 });
}
await book.close();
