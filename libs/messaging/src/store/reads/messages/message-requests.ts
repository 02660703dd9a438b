import type { ResendView, SubmissionView } from '../../../message/views.js';
import type { StoreDatabase } from '../../database/store-database.js';
import { SUBMISSION_OUTCOME } from '../../rows/outcome.js';
import { membersOf } from '../../rows/span.js';
import { dateOf } from '../report-list.js';
import { messageIdOf } from '../../../message/ids.js';

type Big = string | number;

/** Requests of one message that are shown. */
const MOST = 100;
/** Submissions that are read for them: others may have messages before and after it. */
const MOST_READ = 1_000;

const OUTCOMES: ReadonlyMap<number, string> = new Map(
  Object.entries(SUBMISSION_OUTCOME).map(([name, code]) => [code, name]),
);

/** SQL condition: the span of the submission has the message; takes its batch and twice its position. */
const MAY_HAVE = 's.batch = ? AND s.first_position <= ? AND s.last_position >= ?';

/** Requests with one message, oldest first. */
export async function requestsOf(
  database: Pick<StoreDatabase, 'all'>,
  batch: string,
  position: number,
): Promise<SubmissionView[]> {
  const rows = await database.all<{
    provider: string;
    reason: string | null;
    attempt: number;
    startedAt: Big;
    finishedAt: Big | null;
    outcome: number | null;
    errorCode: string | null;
    errorText: string | null;
    members: string | null;
  }>(
    `SELECT s.members, s.provider, s.reason, s.attempt, s.first_sent_at AS "startedAt", s.finished_at AS "finishedAt",
       s.outcome, s.error_code AS "errorCode", s.error_text AS "errorText"
     FROM messaging_submission s WHERE ${MAY_HAVE} ORDER BY s.n LIMIT ?`,
    [batch, position, position, MOST_READ],
  );
  const own = rows.filter(({ members }) => membersOf(members).has(position)).slice(0, MOST);
  return own.map(({ startedAt, finishedAt, outcome, members: _members, ...row }) => ({
    ...row,
    startedAt: dateOf(startedAt),
    finishedAt: finishedAt === null ? null : dateOf(finishedAt),
    outcome:
      outcome === null ? null : ((OUTCOMES.get(outcome) as SubmissionView['outcome']) ?? null),
  }));
}

/** The provider's words of a message's last failure with this code. */
export async function errorTextOf(
  database: Pick<StoreDatabase, 'all'>,
  batch: string,
  position: number,
  errorCode: string,
): Promise<string | null> {
  const rows = await database.all<{ errorText: string | null; members: string | null }>(
    `SELECT s.error_text AS "errorText", s.members FROM messaging_submission s
     WHERE ${MAY_HAVE} AND s.error_code = ? ORDER BY s.n DESC LIMIT ?`,
    [batch, position, position, errorCode, MOST_READ],
  );
  return rows.find(({ members }) => membersOf(members).has(position))?.errorText ?? null;
}

interface LinkRow {
  readonly batch: string;
  readonly position: number;
  readonly newBatch: string;
  readonly by: string | null;
  readonly at: string | number;
}

interface ResendLinks {
  /** The message that this one repeats; `null`: it repeats none. */
  readonly resendOf: ResendView | null;
  /** The message that repeats this one; `null`: none does. */
  readonly resentAs: ResendView | null;
}

/** A repetition is the only message of its batch. */
export async function resendLinks(
  database: StoreDatabase,
  batch: string,
  position: number,
): Promise<ResendLinks> {
  const columns =
    'r.batch, r.position, r.new_batch AS "newBatch", r.resent_by AS "by", r.resent_at AS "at"';
  const rows = await database.all<LinkRow>(
    `SELECT ${columns} FROM messaging_resend r WHERE r.batch = ? AND r.position = ?
     UNION ALL SELECT ${columns} FROM messaging_resend r WHERE r.new_batch = ?`,
    [batch, position, batch],
  );
  const isOrigin = (row: LinkRow) => row.newBatch === batch;
  const viewOf = (row: LinkRow | undefined, id: (row: LinkRow) => string): ResendView | null =>
    row ? { messageId: id(row), at: dateOf(row.at), by: row.by } : null;
  return {
    resendOf: viewOf(rows.find(isOrigin), (row) => messageIdOf(row.batch, row.position)),
    resentAs: viewOf(
      rows.find((row) => !isOrigin(row)),
      ({ newBatch }) => messageIdOf(newBatch, 0),
    ),
  };
}
