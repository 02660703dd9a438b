import { fieldMapParser, inboundMapParser } from '../../callbacks/map.parsers.js';
import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';

/**
 * Parser of Termii's outbound events: JSON. A sentence may follow the status after a bar (`DELIVERED | Message
 * delivered to handset`). Signed with HMAC-SHA512 in `X-Termii-Signature`.
 *
 * @see https://developer.termii.com/events-and-reports
 */
export function termiiParser(): DeliveryReportParser {
  return fieldMapParser({
    only: { type: 'outbound' },
    messageId: 'message_id',
    recipient: 'receiver',
    status: 'status',
    statusEnd: '|',
    statuses: {
      'message sent': 'sent',
      delivered: 'delivered',
      'message failed': 'failed',
      'dnd active on phone number': 'rejected',
    },
  });
}

/**
 * Parser of Termii's inbound events: JSON, signed like the outbound ones. `channel` is the route, or `whatsapp`.
 *
 * @see https://developer.termii.com/incoming
 */
export function termiiInboundParser(): InboundParser {
  return inboundMapParser({
    only: { type: 'inbound' },
    messageId: 'message_id',
    from: 'sender',
    to: 'receiver',
    text: 'message',
    channel: 'channel',
    channels: { whatsapp: 'whatsapp', generic: 'sms', dnd: 'sms', sms: 'sms', 'number api': 'sms' },
    time: 'received_at',
  });
}
