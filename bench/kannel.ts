import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';
import { measureRelays } from './kannel/relay.figure.js';
import { isKannelInstalled } from '../test/support/kannel-programs.js';

/** Compares the gateway with Kannel on one machine (K). */
const asked = request({ ms: 0, rounds: 3 }, { ms: 0, rounds: 11 });
const messages = asked.form === 'full' ? 10_000 : 3_000;

if (isKannelInstalled()) {
  const book = new ResultBook('kannel', asked.form);
  for (const kind of await databaseKinds())
    await measureRelays(book, kind, await describeDatabase(kind), {
      messages,
      rounds: asked.rounds,
    });
  await book.close();
} else process.stderr.write('Kannel is not installed: nothing to compare with\n');
