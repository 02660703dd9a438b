import { measurePace } from './carriers/pace.figure.js';
import { measureSmpp } from './carriers/smpp.figure.js';
import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';

/** Measures carriers and routes: over SMPP (V1 to V4), and paced to WhatsApp (V5, for `ms`). */
const asked = request({ ms: 8_000, rounds: 3 }, { ms: 60_000, rounds: 9 });
const messages = asked.form === 'full' ? 10_000 : 3_000;
const book = new ResultBook('carriers', asked.form);

for (const kind of await databaseKinds()) {
  const name = await describeDatabase(kind);
  const wants = (id: string) => asked.wants(id);
  await measureSmpp(book, kind, name, { messages, rounds: asked.rounds, wants });
  if (asked.wants('V5')) await measurePace(book, kind, name, asked.ms);
}
await book.close();
