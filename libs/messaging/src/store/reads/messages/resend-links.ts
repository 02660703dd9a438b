import { messageIdOf } from '../../../message/ids.js';
import type { ResendView } from '../../../message/views.js';
import type { StoreDatabase } from '../../database/store-database.js';
import { dateOf } from '../report-list.js';

interface LinkRow {
  readonly batch: string;
  readonly position: number;
  readonly newBatch: string;
  readonly by: string | null;
  readonly at: string | number;
}

export interface ResendLinks {
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
