import { MessageNotFoundError } from '../message/errors.js';
import { type MessageStatus, statusOfRank } from '../message/status.js';
import type { MessageTimeline, ReportView } from '../message/views.js';
import type { BatchScope } from './batches.js';
import type { LedgerDatabase } from './ledger-database.js';
import type { ReportLog } from './report-log.js';
import { BATCH_PHASE, CHUNK_SIZE } from './schema.js';

const MESSAGE_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,7})$/;
/** Entries of the log read at a time. */
const PAGE = 1_000;

interface TimelineRow {
  readonly created_at: string | number;
  readonly phase: number;
  readonly recipient_count: number;
  readonly recipient: string | null;
  readonly status: number | null;
  readonly attempt: number | null;
  readonly error_code: string | null;
  readonly first_sent_at: string | number | null;
}

/** The life of one message, read back whole. */
export class MessageTimelines {
  constructor(
    private readonly database: LedgerDatabase,
    private readonly log: ReportLog,
  ) {}

  /** @throws MessageNotFoundError */
  async find(id: string, scope: BatchScope): Promise<MessageTimeline> {
    const [, batch, digits] = MESSAGE_ID.exec(id) ?? [];
    if (batch === undefined) throw new MessageNotFoundError(id);
    const position = Number(digits);
    const [row] = await this.database.all<TimelineRow>(
      `SELECT b.created_at, b.phase, b.recipient_count, m.recipient, m.status, m.attempt, m.error_code, s.first_sent_at
       FROM messaging_batch b
       LEFT JOIN messaging_message m ON m.batch = b.id AND m.position = ?
       LEFT JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
       WHERE b.id = ? AND b.tenant = ? AND b.channel = ?`,
      [position, batch, scope.tenant, scope.channel],
    );
    if (!row || position >= row.recipient_count) throw new MessageNotFoundError(id);
    return {
      id,
      batchId: batch,
      position,
      recipient: row.recipient ?? (await this.#planned(batch, position)),
      status: statusOf(row),
      errorCode: row.error_code,
      attempts: row.attempt ?? 0,
      acceptedAt: dateOf(row.created_at),
      sentAt: row.first_sent_at === null ? null : dateOf(row.first_sent_at),
      reports: row.status === null ? [] : await this.#reports(batch, position, scope),
    };
  }

  /** The recipient of a message that has not begun. */
  async #planned(batch: string, position: number): Promise<string> {
    const [chunk] = await this.database.all<{ recipients: string }>(
      'SELECT recipients FROM messaging_batch_chunk WHERE batch = ? AND n = ?',
      [batch, Math.floor(position / CHUNK_SIZE)],
    );
    return chunk?.recipients.split('\n')[position % CHUNK_SIZE] ?? '';
  }

  async #reports(batch: string, position: number, scope: BatchScope): Promise<ReportView[]> {
    const reports: ReportView[] = [];
    let cursor: string | null = null;
    do {
      const filter = { batchIds: [batch], limit: PAGE, ...(cursor !== null && { cursor }) };
      const page = await this.log.find(scope, filter, position);
      reports.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return reports;
  }
}

/** What no row records is queued, or cancelled with its batch. */
function statusOf({ status, phase }: TimelineRow): MessageStatus {
  if (status !== null) return statusOfRank(status);
  return phase === BATCH_PHASE.cancelled ? 'cancelled' : 'queued';
}

function dateOf(micros: string | number): Date {
  return new Date(Math.floor(Number(micros) / 1_000));
}
