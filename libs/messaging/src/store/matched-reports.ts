import type { Columns, Dialect } from './dialect.js';
import type { Sql } from './store-database.js';
import { logRow, type MatchedReport, type MessageBefore } from './received-report.js';
import { HELD_COLUMNS } from './status.js';
import { LOG, LOG_COLUMNS, onLogged } from './status-writer.js';

/** The tenant and the sequence are the message's, and left open. */
const MATCHED = { ...LOG, v_index: 'int' } as const satisfies Columns;

/**
 * Reports and their messages paired, where each message has one report: what the general way takes
 * from place to place — hold, log, raise — as one statement, which is its own transaction unless
 * somebody has to be told in it. For PostgreSQL, where each answer costs a turn of the event loop.
 */
export class MatchedReports {
  readonly #rows;
  readonly #quiet: string;
  readonly #telling: string;

  constructor(dialect: Dialect) {
    this.#rows = dialect.rows(MATCHED);
    const statement = (answer: string) => `WITH held AS (
        SELECT v.*, ${HELD_COLUMNS} FROM ${this.#rows.keyed}
        JOIN messaging_message m ON m.batch = v_batch AND m.position = v_position
        JOIN messaging_batch b ON b.id = m.batch
        ORDER BY m.batch, m.position ${dialect.forUpdate('m')}),
      fit AS (SELECT count(*) = ? AS fits FROM held WHERE v_recipient IS NULL OR v_recipient = recipient),
      raised AS (UPDATE messaging_message m
        SET status = v_status, sequence = h.sequence + 1, error_code = v_error
        FROM held h WHERE (SELECT fits FROM fit)
          AND m.batch = h.v_batch AND m.position = h.v_position AND h.status < v_status),
      logged AS (INSERT INTO messaging_report (${LOG_COLUMNS})
        SELECT v_hash, tenant, v_batch, v_position, v_provider, v_reference, v_message_id, v_recipient,
          v_status, v_raw, v_error, v_provider_time, v_received,
          CASE WHEN status < v_status THEN sequence + 1 END
        FROM held WHERE (SELECT fits FROM fit) ${onLogged(dialect)})
      ${answer}`;
    this.#quiet = statement('SELECT 1 FROM fit WHERE fits');
    this.#telling = statement(
      `SELECT v_index, batch, position, recipient, status, sequence, error_code, reference, tenant, channel,
        sender, delivery_report FROM held WHERE (SELECT fits FROM fit)`,
    );
  }

  /**
   * @param telling whether the messages are asked for, as they were before
   * @returns `undefined`: one of the messages is gone or another's, and nothing was written
   */
  async record(
    sql: Pick<Sql, 'all'>,
    matched: readonly MatchedReport[],
    telling: boolean,
  ): Promise<readonly MessageBefore[] | undefined> {
    const rows = matched.map(({ report, place }, index) => [...logRow(report, place, null), index]);
    const params = [...this.#rows.bind(rows), matched.length];
    const answer = await sql.all<MessageBefore>(telling ? this.#telling : this.#quiet, params);
    if (answer.length === 0) return undefined;
    return telling ? answer : [];
  }
}
