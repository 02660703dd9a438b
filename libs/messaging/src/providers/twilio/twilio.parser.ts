import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';
import { fieldMapParser } from '../../callbacks/field-map.parser.js';
import { inboundMapParser } from '../../callbacks/inbound-map.parser.js';

/**
 * Twilio's status callbacks: a form per status of one message, named by its SID, without a time.
 *
 * @see https://www.twilio.com/docs/messaging/guides/track-outbound-message-status
 */
export function twilioParser(): DeliveryReportParser {
  return fieldMapParser({
    except: 'Body',
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

/**
 * What people wrote to a Twilio number: a form, without a time. `whatsapp:` in front of the addresses says
 * WhatsApp; other channels' messages are passed over.
 *
 * @see https://www.twilio.com/docs/messaging/guides/webhook-request
 */
export function twilioInboundParser(): InboundParser {
  return inboundMapParser({
    except: 'MessageStatus',
    messageId: ['MessageSid', 'SmsMessageSid', 'SmsSid'],
    from: 'From',
    to: 'To',
    text: 'Body',
  });
}
