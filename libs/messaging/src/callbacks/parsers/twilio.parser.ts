import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import { fieldMapParser } from '../field-map.parser.js';

/**
 * Twilio's status callbacks: a form per status of one message, named by its SID, without a time.
 *
 * @see https://www.twilio.com/docs/messaging/guides/track-outbound-message-status
 */
export function twilioParser(): DeliveryReportParser {
  return fieldMapParser({
    messageId: ['MessageSid', 'SmsSid'],
    recipient: 'To',
    status: ['MessageStatus', 'SmsStatus'],
    statuses: {
      accepted: 'sent',
      scheduled: 'sent',
      queued: 'sent',
      sending: 'sent',
      sent: 'sent',
      delivered: 'delivered',
      read: 'read',
      undelivered: 'undelivered',
      failed: 'failed',
      canceled: 'failed',
    },
    errorCode: 'ErrorCode',
  });
}
