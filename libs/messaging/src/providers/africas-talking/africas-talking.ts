import { fieldMapParser, inboundMapParser } from '../../callbacks/map.parsers.js';
import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';

/**
 * Africa's Talking's delivery reports: a form per status of one message, without a time. Its `Failed`
 * is a message that did not reach the handset.
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
 * What people wrote to an Africa's Talking number or short code: a form. Its `date` has no zone and is left
 * alone.
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
