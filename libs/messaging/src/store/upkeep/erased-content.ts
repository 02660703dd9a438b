import type { Sql } from '../database/store-database.js';

/** SQL assignments that erase a submission: the provider's own text and details may quote the content. */
export const ERASED_SUBMISSION = 'content = NULL, details = NULL, error_text = NULL';

/** Erases the content of a batch, and all that may quote it. Recipients and statuses stay. */
export async function eraseContent(sql: Sql, batch: string): Promise<void> {
  await sql.run('UPDATE messaging_batch SET content = NULL WHERE id = ?', [batch]);
  await sql.run(`UPDATE messaging_submission SET ${ERASED_SUBMISSION} WHERE batch = ?`, [batch]);
  await sql.run(
    'UPDATE messaging_report SET details = NULL WHERE batch = ? AND details IS NOT NULL',
    [batch],
  );
  for (const table of ['batch_text', 'batch_personal', 'batch_attachment', 'batch_label'])
    await sql.run(`DELETE FROM messaging_${table} WHERE batch = ?`, [batch]);
}
