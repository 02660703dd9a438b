import { fieldMapParser, inboundMapParser } from '../../callbacks/map.parsers.js';
import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';

/**
 * Parser of Infobip's delivery reports: up to a hundred `results` in one JSON. The status group decides, except for
 * `DELIVERED_TO_OPERATOR`, where the handset does not have the message yet.
 *
 * @see https://www.infobip.com/docs/api/channels/sms/sms-messaging/logs-and-status-reports/receive-outbound-sms-message-report
 * @see https://www.infobip.com/docs/developer-resources/api-fundamentals/message-status-codes
 */
export function infobipParser(): DeliveryReportParser {
  return fieldMapParser({
    entries: 'results',
    except: 'receivedAt',
    reference: 'bulkId',
    messageId: 'messageId',
    recipient: 'to',
    status: ['status.name', 'status.groupName'],
    statuses: {
      delivered_to_operator: 'sent',
      pending: 'sent',
      delivered: 'delivered',
      undeliverable: 'undelivered',
      expired: 'expired',
      rejected: 'rejected',
    },
    errorCode: 'error.name',
    noError: ['NO_ERROR'],
    time: 'doneAt',
  });
}

/**
 * Parser of messages to an Infobip number, SMS or WhatsApp: up to a hundred `results` in one JSON.
 *
 * @see https://www.infobip.com/docs/api/channels/sms/inbound-sms/receive-inbound-sms-messages
 * @see https://www.infobip.com/docs/api/channels/whatsapp/receive-whatsapp-messages
 */
export function infobipInboundParser(): InboundParser {
  return inboundMapParser({
    entries: 'results',
    except: 'status',
    messageId: 'messageId',
    from: 'from',
    to: 'to',
    text: ['text', 'message.text', 'message.title'],
    channel: 'integrationType',
    time: 'receivedAt',
  });
}
