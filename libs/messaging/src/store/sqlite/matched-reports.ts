import { BoundRows } from '../bound-rows.js';
import type { Dialect } from '../dialect.js';
import type { Sql } from '../store-database.js';
import { logRow, type MatchedReport } from '../received-report.js';
import { LOG, LOG_COLUMNS } from '../status-writer.js';

/** The tenant and the sequence are the message's. */
const MATCHED = Object.keys(LOG).filter((name) => name !== 'v_tenant' && name !== 'v_sequence');
const TENANT = Object.keys(LOG).indexOf('v_tenant');

/** From the last so many rows of the log: with one writer, what was just written has ids without a gap. */
const RAISE = `UPDATE messaging_message SET status = r.status, sequence = r.sequence, error_code = r.error_code
  FROM (SELECT batch, position, status, sequence, error_code FROM messaging_report
    WHERE id > (SELECT max(id) FROM messaging_report) - ? LIMIT -1) AS r
  WHERE messaging_message.batch = r.batch AND messaging_message.position = r.position AND r.sequence IS NOT NULL`;

/**
 * Reports and their messages paired, where nobody has to be told of them, on SQLite. To read the
 * messages, and to hand in once more what is in the log, takes as long as the log: so the log reads
 * what it needs of the messages, and they take their status out of it.
 */
export class SqliteMatchedReports {
  readonly #log: BoundRows;

  constructor(dialect: Dialect) {
    this.#log = new BoundRows(
      `WITH v(${MATCHED.join(', ')}) AS (`,
      `(${MATCHED.map(() => '?').join(', ')})`,
      `) INSERT INTO messaging_report (${LOG_COLUMNS})
       SELECT v_hash, b.tenant, v_batch, v_position, v_provider, v_reference, v_message_id, v_recipient,
         v_status, v_raw, v_error, v_provider_time, v_received,
         CASE WHEN m.status < v_status THEN m.sequence + 1 END
       FROM v CROSS JOIN messaging_message m ON m.batch = v_batch AND m.position = v_position
       JOIN messaging_batch b ON b.id = m.batch
       WHERE v_recipient IS NULL OR v_recipient = m.recipient ${dialect.ignoreConflict('messaging_report', 'hash')}`,
    );
  }

  /** @returns false: a message is gone or another's, or a report is in the log already, and nothing was written */
  async record(tx: Pick<Sql, 'run'>, matched: readonly MatchedReport[]): Promise<boolean> {
    await tx.run('SAVEPOINT matched');
    if ((await this.#log.insert(tx, matched.map(matchedRow))) < matched.length) {
      await tx.run('ROLLBACK TO matched');
      return false;
    }
    await tx.run(RAISE, [matched.length]);
    return true;
  }
}

function matchedRow({ report, place }: MatchedReport): unknown[] {
  const row = logRow(report, place, null);
  row.splice(TENANT, 1);
  row.pop();
  return row;
}
