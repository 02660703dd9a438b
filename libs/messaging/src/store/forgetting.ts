import type { Dialect } from './dialect.js';
import type { Sql } from './store-database.js';
import { BATCH_PHASE } from './schema.js';

/** Of a batch `b`: 1 where somebody was taken out of it, which leaves an empty line. */
export const HAS_FORGOTTEN = `CASE WHEN EXISTS (SELECT 1 FROM messaging_batch_chunk c WHERE c.batch = b.id
  AND (c.recipients = '' OR c.recipients LIKE '\n%' OR c.recipients LIKE '%\n' OR c.recipients LIKE '%\n\n%'))
  THEN 1 ELSE 0 END`;

/**
 * Takes one number out of what has ended, keeping every row: messages, reports, and the lines of the
 * chunks. What has not ended, or may still be asked after, keeps it.
 */
export async function forgetRecipient(
  tx: Sql,
  dialect: Dialect,
  tenant: string,
  recipient: string,
): Promise<{ messages: number; remaining: number }> {
  const chunks = await tx.all<{ batch: string; n: number; recipients: string; ended: number }>(
    `SELECT c.batch, c.n, c.recipients,
       CASE WHEN b.phase IN (${BATCH_PHASE.completed}, ${BATCH_PHASE.cancelled}) AND b.poll_at IS NULL
         THEN 1 ELSE 0 END AS ended
     FROM messaging_batch b JOIN messaging_batch_chunk c ON c.batch = b.id
     WHERE b.tenant = ? AND c.recipients LIKE ?`,
    [tenant, `%${recipient}%`],
  );
  const named = chunks.filter(({ recipients }) => recipients.split('\n').includes(recipient));
  const ended = named.filter((chunk) => Number(chunk.ended) === 1);
  const remaining = new Set(
    named.flatMap((chunk) => (Number(chunk.ended) === 1 ? [] : [chunk.batch])),
  ).size;
  if (ended.length === 0) return { messages: 0, remaining };
  const lines = dialect.rows({ v_batch: 'uuid', v_n: 'int', v_recipients: 'text' });
  await tx.run(
    dialect.updateFrom({
      table: 'messaging_batch_chunk',
      rows: lines,
      set: 'recipients = v_recipients',
      where: 'messaging_batch_chunk.batch = v_batch AND messaging_batch_chunk.n = v_n',
    }),
    lines.bind(ended.map(({ batch, n, recipients }) => [batch, n, without(recipients, recipient)])),
  );
  const batches = dialect.rows({ v_batch: 'uuid' });
  const ids = batches.bind([...new Set(ended.map(({ batch }) => batch))].sort().map((id) => [id]));
  const forget = (table: string) =>
    dialect.updateFrom({
      table: `messaging_${table}`,
      rows: batches,
      set: "recipient = ''",
      where: `messaging_${table}.batch = v_batch AND messaging_${table}.recipient = ?`,
    });
  const messages = await tx.run(forget('message'), [...ids, recipient]);
  await tx.run(forget('report'), [...ids, recipient]);
  return { messages, remaining };
}

function without(lines: string, recipient: string): string {
  return lines
    .split('\n')
    .map((line) => (line === recipient ? '' : line))
    .join('\n');
}
