import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import { fieldMapParser } from '../field-map.parser.js';

/**
 * Vonage's delivery receipts of the SMS API (query, form or JSON; `msisdn` is the recipient,
 * `message-timestamp` UTC) and status callbacks of the Messages API.
 *
 * @see https://developer.vonage.com/en/messaging/sms/guides/delivery-receipts
 * @see https://developer.vonage.com/en/messages/concepts/messages-status-callbacks
 */
export function vonageParser(): DeliveryReportParser {
  return fieldMapParser({
    messageId: ['messageId', 'message_uuid'],
    recipient: ['msisdn', 'to'],
    status: 'status',
    statuses: {
      accepted: 'sent',
      buffered: 'sent',
      submitted: 'sent',
      delivered: 'delivered',
      read: 'read',
      expired: 'expired',
      failed: 'failed',
      rejected: 'rejected',
      undeliverable: 'undelivered',
      // As carriers write them.
      acceptd: 'sent',
      delivrd: 'delivered',
      undeliv: 'undelivered',
      deleted: 'undelivered',
      rejectd: 'rejected',
    },
    errorCode: ['err-code', 'error.title'],
    noError: ['0'],
    time: ['message-timestamp', 'timestamp'],
    timeFormat: 'utc',
  });
}
