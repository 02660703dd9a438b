import { MessageValidationError } from '../message/errors.js';
import type { Page } from '../message/views.js';
import { decodeCursor, encodeCursor } from '../store/cursor.js';
import type { Columns } from '../store/dialect.js';
import type { StoreDatabase, Sql } from '../store/store-database.js';
import { REFUSED } from './consents.js';
import type { SuppressionEntry } from './contact.js';

const SUPPRESSION = {
  v_tenant: 'key',
  v_recipient: 'key',
  v_channel: 'key',
  v_reason: 'key',
  v_at: 'bigint',
} as const satisfies Columns;

interface SuppressionRow {
  readonly recipient: string;
  readonly channel: SuppressionEntry['channel'];
  readonly reason: string;
  readonly at: string | number;
}

/** Numbers nothing is sent to, whoever they are. */
export class Suppressions {
  readonly #rows;
  readonly #insert: string;
  readonly #numbers;

  constructor(private readonly database: StoreDatabase) {
    const { dialect } = database;
    this.#rows = dialect.rows(SUPPRESSION);
    this.#numbers = dialect.rows({ v_recipient: 'key' });
    // What only stands for a refusal is lifted by the next yes that is younger than the last such refusal;
    // what else is said of the number is not. MySQL assigns from left to right, so what decides comes last.
    this.#insert = `INSERT INTO messaging_suppression (tenant, recipient, channel, reason, at)
      SELECT v_tenant, v_recipient, v_channel, v_reason, v_at FROM ${this.#rows.sql} WHERE 1 = 1
      ${dialect.onConflict(
        'tenant, recipient, channel',
        `at = CASE WHEN messaging_suppression.reason = '${REFUSED}'
            THEN ${dialect.greatest('messaging_suppression.at', 'new.at')}
            ELSE messaging_suppression.at END,
          reason = CASE WHEN messaging_suppression.reason = '${REFUSED}' THEN new.reason
            ELSE messaging_suppression.reason END`,
      )}`;
  }

  async add(
    tx: Sql,
    tenant: string,
    recipients: readonly string[],
    entry: { channel: string; reason: string; at: number },
  ): Promise<void> {
    if (recipients.length === 0) return;
    await tx.run(
      this.#insert,
      this.#rows.bind(
        [...recipients]
          .sort()
          .map((recipient) => [tenant, recipient, entry.channel, entry.reason, entry.at * 1_000]),
      ),
    );
  }

  async remove(
    tx: Sql,
    tenant: string,
    recipients: readonly string[],
    channel: string,
  ): Promise<void> {
    if (recipients.length === 0) return;
    await tx.run(
      `DELETE FROM messaging_suppression WHERE recipient IN (SELECT v_recipient FROM ${this.#numbers.sql})
         AND tenant = ? AND channel = ?`,
      [...this.#numbers.bind(recipients.map((recipient) => [recipient])), tenant, channel],
    );
  }

  /** By number. */
  async list(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    { cursor, limit = 100 }: { readonly cursor?: string; readonly limit?: number },
  ): Promise<Page<SuppressionEntry>> {
    if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
      throw new MessageValidationError([{ path: 'limit', message: 'must be 1 to 1000' }]);
    const [recipient, channel] =
      cursor === undefined ? ['', ''] : decodeCursor(cursor, 'suppression').split(' ');
    const rows = await sql.all<SuppressionRow>(
      `SELECT recipient, channel, reason, at FROM messaging_suppression
       WHERE tenant = ? AND (recipient > ? OR (recipient = ? AND channel > ?))
       ORDER BY recipient, channel LIMIT ?`,
      [tenant, recipient, recipient, channel, limit + 1],
    );
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      data: page.map((row) => ({ ...row, at: new Date(Number(row.at) / 1_000) })),
      nextCursor:
        rows.length > limit && last ? encodeCursor(`${last.recipient} ${last.channel}`) : null,
    };
  }
}
