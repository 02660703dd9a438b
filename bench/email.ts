import { measureCampaign } from './email/campaign.figure.js';
import { makeKeys } from './email/campaign.js';
import { measureReports } from './email/reports.figure.js';
import { measureSends } from './email/send.figure.js';
import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';

/** Measures e-mail (E1 to E5). `ms` is the time for which the limit of E5 is measured. */
const asked = request({ ms: 3_000, rounds: 3 }, { ms: 10_000, rounds: 9 });
const messages = asked.form === 'full' ? 10_000 : 2_000;
const book = new ResultBook('email', asked.form);
const keys = makeKeys();

for (const kind of await databaseKinds()) {
  const name = await describeDatabase(kind);
  if (['E1', 'E2', 'E4'].some((id) => asked.wants(id)))
    await measureSends(book, kind, name, keys, {
      messages,
      rounds: asked.rounds,
      wants: (id) => asked.wants(id),
    });
  if (asked.wants('E3')) await measureCampaign(book, kind, name, asked.rounds);
  if (asked.wants('E5'))
    await measureReports(book, kind, name, { ...asked, messages: messages / 2 });
}
await book.close();
