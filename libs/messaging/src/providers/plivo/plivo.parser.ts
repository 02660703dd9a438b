import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';
import { fieldMapParser } from '../../callbacks/field-map.parser.js';
import { inboundMapParser } from '../../callbacks/inbound-map.parser.js';

/**
 * Plivo's message status callbacks: form or query. Its times have no zone, and are left alone.
 *
 * @see https://www.plivo.com/docs/messaging/api/message/message-status-callbacks
 */
export function plivoParser(): DeliveryReportParser {
  return fieldMapParser({
    except: ['Text', 'Body', 'ContentType'],
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

/**
 * What people wrote to a Plivo number, SMS, MMS or WhatsApp: form or query, without a time.
 *
 * @see https://www.plivo.com/docs/messaging/api/message/handling-incoming
 */
export function plivoInboundParser(): InboundParser {
  return inboundMapParser({
    except: 'Status',
    messageId: 'MessageUUID',
    from: 'From',
    to: 'To',
    text: ['Text', 'Body'],
    channel: 'Type',
  });
}
