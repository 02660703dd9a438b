import { request } from './harness/extent.js';
import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { ResultBook } from './harness/result.book.js';
import { measureInsights } from './portal/insights.figure.js';
import { measureLists } from './portal/lists.figure.js';
import { measurePages } from './portal/pages.figure.js';
import { measureWatched } from './portal/watched.figure.js';

/**
 * Measures the lists of the dashboard (W1), its first load and changes (W2), dispatch beside open pages (W3), and the
 * figures of Insights (W4).
 */
const asked = request({ ms: 0, rounds: 3 }, { ms: 0, rounds: 5 });
const full = asked.form === 'full';
const book = new ResultBook('portal', asked.form);
const name = await describeDatabase('postgres');

const lists = { messages: full ? 10_000_000 : 500_000, calls: full ? 100 : 30 };
if (asked.wants('W1'))
  for (const kind of await databaseKinds()) await measureLists(book, kind, lists);
if (asked.wants('W2')) await measurePages(book, name, { changes: full ? 50 : 10 });
if (asked.wants('W3'))
  await measureWatched(book, name, { messages: full ? 20_000 : 4_000, rounds: asked.rounds });
if (asked.wants('W4'))
  for (const kind of await databaseKinds())
    await measureInsights(book, kind, { messages: 10_000_000, calls: full ? 100 : 30 });
await book.close();
