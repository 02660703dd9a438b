import { fieldMapParser, inboundMapParser } from '../../callbacks/map.parsers.js';
import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';

/**
 * Parser of Africa's Talking's delivery reports: one form for each status of a message, without a time. Its `Failed`
 * means that the message did not reach the handset.
 *
 * @see https://developers.africastalking.com/docs/sms/notifications
 */
export function africasTalkingParser(): DeliveryReportParser {
  return fieldMapParser({
    except: 'text',
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

/**
 * Parser of messages to an Africa's Talking number or short code: a form. Its `date` has no zone and is ignored.
 *
 * @see https://developers.africastalking.com/docs/sms/notifications
 */
export function africasTalkingInboundParser(): InboundParser {
  return inboundMapParser({
    except: 'status',
    messageId: 'id',
    from: 'from',
    to: 'to',
    text: 'text',
    time: 'date',
  });
}
