import type { DeliveryReport } from './delivery-report.js';
import { identifier, moment, own, plausible, recipientNumber, word } from './report-fields.js';
import { type ChannelStatus, isReportedStatus } from './status.js';

/**
 * Reads one delivery report in the interface's own form: the `data` of a callback, or an item of a
 * report list. A field of the wrong type counts as missing, a time without
 * an offset, before 1990 or more than a day ahead of `now` as unknown, a status without a mapping is
 * kept raw.
 *
 * @returns the report, or one line that says why there is none (no content, no number).
 */
export function readDeliveryReport(
  data: unknown,
  now: number,
  isReported: (status: unknown) => status is ChannelStatus = isReportedStatus,
): DeliveryReport | string {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return 'not an object';
  const reference = identifier(own(data, 'reference_id'));
  const messageId = identifier(own(data, 'message_id'));
  if (reference === null && messageId === null) return 'neither reference_id nor message_id';
  const rawStatus = word(own(data, 'status'));
  if (rawStatus === null) return 'no status';
  const status = rawStatus.toLowerCase();
  return {
    reference,
    messageId,
    recipient: recipientNumber(own(data, 'to')),
    status: isReported(status) ? status : null,
    rawStatus,
    errorCode: word(own(data, 'error_code')),
    providerTime: plausible(moment(own(data, 'smsc_timestamp')), now),
  };
}
