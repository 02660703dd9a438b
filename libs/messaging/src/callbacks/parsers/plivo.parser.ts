import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import { fieldMapParser } from '../field-map.parser.js';

/**
 * Plivo's message status callbacks: form or query. Its times have no zone, and are left alone.
 *
 * @see https://www.plivo.com/docs/messaging/api/message/message-status-callbacks
 */
export function plivoParser(): DeliveryReportParser {
  return fieldMapParser({
    messageId: 'MessageUUID',
    recipient: 'To',
    status: 'Status',
    statuses: {
      queued: 'sent',
      sent: 'sent',
      delivered: 'delivered',
      read: 'read',
      undelivered: 'undelivered',
      failed: 'failed',
      rejected: 'rejected',
    },
    errorCode: 'ErrorCode',
    noError: ['000'],
  });
}
