import { ConcurrentChangeError } from '../database/concurrent-change.error.js';
import { INTO_LOG, LOG, onLogged } from '../rows/received-report.js';
import { WOKEN } from '../rows/notification.js';
import {
  HELD_COLUMNS,
  HELD_NAMES,
  type HeldMessage,
  isBelow,
  nextSequence,
  raisedTo,
} from '../rows/status.js';
import type { FastPaths } from '../store.js';
import { POSTGRES_DIALECT as dialect } from './dialect.js';

const ROWS = dialect.rows(LOG);

/** The log row takes tenant and sequence from the message. */
const STATEMENT = `WITH held AS (
      SELECT v.*, ${HELD_COLUMNS} FROM ${ROWS.keyed}
      JOIN messaging_message m ON m.batch = v_batch AND m.position = v_position
      JOIN messaging_batch b ON b.id = m.batch
      ORDER BY m.batch, m.position ${dialect.forUpdate('m')}),
    fit AS (SELECT count(*) = ? AS fits FROM held WHERE v_recipient IS NULL OR v_recipient = recipient),
    raised AS (UPDATE messaging_message m SET ${raisedTo('held', 'v_status', 'v_error_code')}
      FROM held WHERE (SELECT fits FROM fit)
        AND m.batch = held.v_batch AND m.position = held.v_position AND ${isBelow('held', 'v_status')}),
    logged AS (${INTO_LOG}
      SELECT v_hash, tenant, v_batch, v_position, v_provider, v_reference, v_message_id, v_recipient,
        v_status, v_raw_status, v_error_code, v_provider_time, v_received_at,
        CASE WHEN ${isBelow('held', 'v_status')} THEN ${nextSequence('held')} END
      FROM held WHERE (SELECT fits FROM fit) ${onLogged(dialect)}),
    woken AS (UPDATE messaging_notification n SET ${WOKEN} FROM held WHERE (SELECT fits FROM fit)
      AND n.id = held.notification AND held.notification IS NOT NULL
      AND ${isBelow('held', 'v_status')})
    SELECT ${HELD_NAMES} FROM held WHERE (SELECT fits FROM fit)`;

/**
 * Locks, logs and raises. Assumes that each message exists and has one report in the group;
 * otherwise it writes nothing. Gain: one turn of the event loop where the slow path takes six,
 * which is most of a report's latency.
 */
export const report: FastPaths['report'] = async (sql, reports) => {
  const before = await sql.all<HeldMessage>(STATEMENT, [...ROWS.bind(reports), reports.length]);
  if (before.length === 0) throw new ConcurrentChangeError();
  return before;
};
