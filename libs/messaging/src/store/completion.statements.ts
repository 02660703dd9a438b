import type { Columns, Dialect } from './dialect.js';
import { BATCH_PHASE } from './schema.js';

const COMPLETED = { v_id: 'uuid', v_at: 'bigint', v_poll_at: 'bigint' } as const satisfies Columns;

export type CompletionStatements = ReturnType<typeof completionStatements>;

/** What completing batches says to the database. */
export function completionStatements(dialect: Dialect) {
  const ids = dialect.rows({ v_id: 'uuid' });
  const completed = dialect.rows(COMPLETED);
  const ended = (batch: string) =>
    `${batch}.pending = 0 AND ${batch}.phase = ${BATCH_PHASE.sending}`;
  const nothingOpen =
    'NOT EXISTS (SELECT 1 FROM messaging_submission s WHERE s.batch = b.id AND s.outcome IS NULL)';
  return {
    ids,
    completed,
    // Of two processes that close the last two submissions, the second looks after the first one's commit.
    lockEnding: `SELECT b.id FROM ${ids.few} ${dialect.join} messaging_batch b ${dialect.by('PRIMARY')} ON b.id = v_id
      WHERE ${dialect.also(ended('b'))}
      ORDER BY b.id ${dialect.forUpdate('b')}`,
    lockOpen: `SELECT s.n FROM ${ids.few} ${dialect.join} messaging_submission s ${dialect.by('PRIMARY')} ON s.batch = v_id
      WHERE ${dialect.also('s.outcome IS NULL')}
      ORDER BY s.batch, s.n ${dialect.forUpdate('s')}`,
    selectCompleted: `SELECT b.id, b.tenant, b.channel FROM ${ids.few} ${dialect.join} messaging_batch b ON b.id = v_id
      WHERE ${dialect.also(ended('b'))} AND ${nothingOpen}`,
    complete: dialect.updateFrom({
      table: 'messaging_batch',
      rows: completed,
      set: `phase = ${BATCH_PHASE.completed}, completed_at = v_at, poll_at = v_poll_at`,
      where: `messaging_batch.id = v_id AND ${dialect.also(ended('messaging_batch'))}`,
    }),
    /** The last of so many batches after one; none where there are fewer. */
    window: 'SELECT b.id FROM messaging_batch b WHERE b.id > ? ORDER BY b.id LIMIT 1 OFFSET ?',
    left: `SELECT b.id FROM messaging_batch b
      WHERE b.id > ? AND b.id <= ? AND ${dialect.also(ended('b'))} AND ${nothingOpen} ORDER BY b.id`,
  };
}
