import { hasEnded } from '../rows/batch-state.js';
import type { Dialect } from '../database/dialect.js';
import type { Sql } from '../database/store-database.js';

/** SQL: 1 where a recipient was erased from the batch `b`, which leaves an empty line; else 0. */
export const HAS_ERASED = `CASE WHEN EXISTS (SELECT 1 FROM messaging_batch_chunk c WHERE c.batch = b.id
  AND (c.recipients = '' OR c.recipients LIKE '\n%' OR c.recipients LIKE '%\n' OR c.recipients LIKE '%\n\n%'))
  THEN 1 ELSE 0 END`;

/**
 * Keeps every row: messages, reports and chunk lines. A batch that is open, or whose reports are
 * still polled, keeps the recipient and counts as `remaining`. `recipient`: an address key.
 */
export async function eraseRecipient(
  tx: Sql,
  dialect: Dialect,
  tenant: string,
  recipient: string,
): Promise<{ messages: number; remaining: number }> {
  const chunks = await tx.all<{ batch: string; n: number; recipients: string; ended: number }>(
    `SELECT c.batch, c.n, c.recipients,
       CASE WHEN ${hasEnded('b')} AND b.poll_at IS NULL THEN 1 ELSE 0 END AS ended
     FROM messaging_batch b JOIN messaging_batch_chunk c ON c.batch = b.id
     WHERE b.tenant = ? AND c.recipients LIKE ? ESCAPE '!'`,
    [tenant, `%${recipient.replaceAll(/[!%_]/g, '!$&')}%`],
  );
  const named = chunks.filter(({ recipients }) => recipients.split('\n').includes(recipient));
  const ended = named.filter((chunk) => Number(chunk.ended) === 1);
  const open = named.filter((chunk) => Number(chunk.ended) !== 1);
  const remaining = new Set(open.map(({ batch }) => batch)).size;
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
  const erase = (table: string) => {
    const where = `${table}.batch = v_batch AND ${table}.recipient = ?`;
    const statement = dialect.updateFrom({ table, rows: batches, set: "recipient = ''", where });
    return tx.run(statement, [...ids, recipient]);
  };
  const messages = await erase('messaging_message');
  await erase('messaging_report');
  return { messages, remaining };
}

function without(lines: string, recipient: string): string {
  return lines
    .split('\n')
    .map((line) => (line === recipient ? '' : line))
    .join('\n');
}
