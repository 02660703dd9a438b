import type { StoreDatabase, Transaction } from '../database/store-database.js';
import { INSERT_TEXT, textPiecesOf, type TextRow, textsOf } from '../rows/batch-data.js';
import { readContent, wholeOf, writeContent } from '../rows/stored-content.js';

/**
 * Encrypts the content of a batch with the first key of its store, and the contents that policy
 * substituted in it; what no key decrypts stays as it is. @returns whether something changed
 */
export async function resealContent(
  { dialect, seals }: StoreDatabase,
  tx: Transaction,
  batch: string,
): Promise<boolean> {
  const resealed = (json: string, texts: readonly string[]) => {
    const stored = readContent(json, texts);
    if (seals.isCurrent(stored)) return undefined;
    const opened = seals.open(batch, stored);
    return opened.unreadable ? undefined : seals.seal(batch, opened);
  };
  const [row] = await tx.all<{ content: string | null }>(
    `SELECT b.content FROM messaging_batch b WHERE b.id = ? ${dialect.forUpdate('b')}`,
    [batch],
  );
  if (!row || row.content === null) return false;
  const pieces = await tx.all<TextRow>(
    'SELECT t.batch, t.n, t.bytes FROM messaging_batch_text t WHERE t.batch = ? ORDER BY t.n, t.piece',
    [batch],
  );
  const own = resealed(row.content, textsOf(pieces));
  if (own) {
    const { json, texts } = writeContent(own);
    await tx.run('UPDATE messaging_batch SET content = ? WHERE id = ?', [json, batch]);
    await tx.run('DELETE FROM messaging_batch_text WHERE batch = ?', [batch]);
    for (const { n, piece, bytes } of textPiecesOf(texts))
      await tx.run(INSERT_TEXT, [batch, n, piece, bytes]);
  }
  let changed = own !== undefined;
  const submissions = await tx.all<{ n: number; content: string }>(
    'SELECT s.n, s.content FROM messaging_submission s WHERE s.batch = ? AND s.content IS NOT NULL',
    [batch],
  );
  for (const { n, content } of submissions) {
    const other = resealed(content, []);
    if (!other) continue;
    changed = true;
    await tx.run('UPDATE messaging_submission SET content = ? WHERE batch = ? AND n = ?', [
      JSON.stringify(wholeOf(other)),
      batch,
      n,
    ]);
  }
  return changed;
}
