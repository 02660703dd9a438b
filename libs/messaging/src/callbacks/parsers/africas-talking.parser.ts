import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import { fieldMapParser } from '../field-map.parser.js';

/**
 * Africa's Talking's delivery reports: a form per status of one message, without a time. Its `Failed`
 * is a message that did not reach the handset.
 *
 * @see https://developers.africastalking.com/docs/sms/notifications
 */
export function africasTalkingParser(): DeliveryReportParser {
  return fieldMapParser({
    messageId: 'id',
    recipient: 'phoneNumber',
    status: 'status',
    statuses: {
      sent: 'sent',
      submitted: 'sent',
      buffered: 'sent',
      success: 'delivered',
      failed: 'undelivered',
      rejected: 'rejected',
    },
    errorCode: 'failureReason',
  });
}
