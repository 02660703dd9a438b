import type { Mailbox } from '../../message/content/email-content.js';
import { STATUS_RANK } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import type { StoreDatabase, Transaction } from '../database/store-database.js';
import { BATCH_STATE, CANCELLED } from '../rows/batch-state.js';
import { LOCKED_COLUMNS, type LockedMessage, raise, type StatusChange } from '../rows/status.js';
import { changedContent } from '../rows/stored-content.js';
import { CHUNK_SIZE } from '../schema/tables.js';
import { eraseContent, ERASED_SUBMISSION } from './erased-content.js';
import type { StatusWriter } from '../verbs/status-writer.js';

/** Id of a batch, and a position in it. */
export type MessageAt = readonly [batch: string, position: number];

/** SQL: 1 where a recipient was erased from the batch `b`, which leaves an empty line; else 0. */
export const HAS_ERASED = `CASE WHEN EXISTS (SELECT 1 FROM messaging_batch_chunk c WHERE c.batch = b.id
  AND (c.recipients = '' OR c.recipients LIKE '\n%' OR c.recipients LIKE '%\n' OR c.recipients LIKE '%\n\n%'))
  THEN 1 ELSE 0 END`;

interface BatchRow {
  readonly tenant: string;
  readonly guarded: number;
  readonly state: number;
  readonly pollAt: string | number | null;
}

/**
 * Erases one recipient of a batch: its line in the batch becomes empty, so that positions and
 * counts stay, its queued message is cancelled, and content that no other recipient has is erased.
 */
export class ErasedMessages {
  constructor(
    private readonly database: StoreDatabase,
    private readonly writer: StatusWriter,
    private readonly clock: Clock,
  ) {}

  /**
   * Repeated calls are safe. @returns changes to publish after the commit; `undefined`: the message
   * is in flight and keeps its recipient, which a resend, a poll and its report need
   */
  async erase(
    tx: Transaction,
    [batch, position]: MessageAt,
  ): Promise<readonly StatusChange[] | undefined> {
    const { dialect, channels } = this.database;
    const [of] = await tx.all<BatchRow>(
      `SELECT b.tenant, b.guarded, b.state, b.poll_at AS "pollAt" FROM messaging_batch b WHERE b.id = ? ${dialect.forUpdate('b')}`,
      [batch],
    );
    if (!of) return [];
    const [message] = await tx.all<LockedMessage>(
      `SELECT ${LOCKED_COLUMNS} FROM messaging_message m JOIN messaging_batch b ON b.id = m.batch
       WHERE m.batch = ? AND m.position = ? ${dialect.forUpdate('m')}`,
      [batch, position],
    );
    const isPolled = of.state < BATCH_STATE.completed || of.pollAt !== null;
    if (message?.status === STATUS_RANK.sending) return undefined;
    if (message && isPolled && channels.pendingRanks.includes(message.status)) return undefined;
    const address = await this.#emptyLine(tx, batch, position);
    if (address) await this.#eraseMailbox(tx, batch, address);
    // The provider's words may have the address.
    await tx.run(
      `UPDATE messaging_submission SET error_text = NULL
       WHERE batch = ? AND first_position <= ? AND last_position >= ? AND error_text IS NOT NULL`,
      [batch, position, position],
    );
    await tx.run("UPDATE messaging_message SET recipient = '' WHERE batch = ? AND position = ?", [
      batch,
      position,
    ]);
    const cancelled = message && this.#cancelled(message);
    const changes = cancelled ? [cancelled] : [];
    await this.writer.write(tx, changes);
    const [rest] = await tx.all(
      `SELECT c.n FROM messaging_batch_chunk c
       WHERE c.batch = ? AND replace(c.recipients, ?, '') <> '' LIMIT 1`,
      [batch, '\n'],
    );
    if (rest) await this.#eraseOwnContent(tx, batch, position, of);
    // Its last request has not been recorded yet.
    else if (of.state === BATCH_STATE.draining) return undefined;
    else await this.#eraseBatch(tx, batch, of);
    return changes;
  }

  /** @returns the line before */
  async #emptyLine(tx: Transaction, batch: string, position: number): Promise<string | undefined> {
    const n = Math.floor(position / CHUNK_SIZE);
    const [chunk] = await tx.all<{ recipients: string }>(
      'SELECT recipients FROM messaging_batch_chunk WHERE batch = ? AND n = ?',
      [batch, n],
    );
    if (!chunk) return undefined;
    const lines = chunk.recipients.split('\n');
    const at = position % CHUNK_SIZE;
    const line = lines[at];
    lines[at] = '';
    await tx.run('UPDATE messaging_batch_chunk SET recipients = ? WHERE batch = ? AND n = ?', [
      lines.join('\n'),
      batch,
      n,
    ]);
    const [personal] = await tx.all<{ entries: string }>(
      'SELECT entries FROM messaging_batch_personal WHERE batch = ? AND n = ?',
      [batch, n],
    );
    if (!personal) return line;
    await tx.run('UPDATE messaging_batch_personal SET entries = ? WHERE batch = ? AND n = ?', [
      personal.entries.split('\n').with(at, '').join('\n'),
      batch,
      n,
    ]);
    return line;
  }

  /** From the headers that the other recipients of an email see. */
  async #eraseMailbox(tx: Transaction, batch: string, address: string): Promise<void> {
    const [row] = await tx.all<{ content: string }>(
      "SELECT content FROM messaging_batch WHERE id = ? AND content LIKE ? ESCAPE '!'",
      [batch, `%${address.replaceAll(/[!%_]/g, '!$&')}%`],
    );
    if (!row) return;
    const without = (mailboxes: readonly Mailbox[]) =>
      mailboxes.filter(({ email }) => email !== address);
    const left = changedContent(row.content, (content) => {
      if (content.kind !== 'email') return content;
      const { to, cc } = content;
      return { ...content, ...(to && { to: without(to) }), ...(cc && { cc: without(cc) }) };
    });
    await tx.run('UPDATE messaging_batch SET content = ? WHERE id = ?', [left, batch]);
  }

  #cancelled(message: LockedMessage): StatusChange | undefined {
    if (message.status > STATUS_RANK.queued) return undefined;
    const erased = { ...message, recipient: '' };
    return raise(erased, STATUS_RANK.cancelled, this.clock.now() * 1_000, null);
  }

  /** Content that policy substituted for this recipient alone. */
  async #eraseOwnContent(
    tx: Transaction,
    batch: string,
    position: number,
    { state }: BatchRow,
  ): Promise<void> {
    await tx.run(
      `UPDATE messaging_submission SET ${ERASED_SUBMISSION}
       WHERE batch = ? AND first_position = ? AND last_position = ? AND outcome IS NOT NULL`,
      [batch, position, position],
    );
    // The new revision excludes the batch from slices that were planned with the recipient.
    if (state < BATCH_STATE.draining)
      await tx.run('UPDATE messaging_batch SET revision = revision + 1 WHERE id = ?', [batch]);
  }

  /** For a batch without a recipient. Cancels the rest. */
  async #eraseBatch(
    tx: Transaction,
    batch: string,
    { tenant, guarded, state }: BatchRow,
  ): Promise<void> {
    if (guarded === 1)
      await this.writer.guardEnd(tx, [{ tenant, batchId: batch, cause: 'erased' }]);
    const at = this.clock.now() * 1_000;
    if (state < BATCH_STATE.draining)
      await tx.run(
        `UPDATE messaging_batch SET ${CANCELLED}, revision = revision + 1, completed_at = ?, poll_at = NULL
         WHERE id = ?`,
        [at, batch],
      );
    await eraseContent(tx, batch);
  }
}
