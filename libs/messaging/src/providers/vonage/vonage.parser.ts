import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';
import { fieldMapParser } from '../../callbacks/field-map.parser.js';
import { inboundMapParser } from '../../callbacks/inbound-map.parser.js';

/**
 * Vonage's delivery receipts of the SMS API (query, form or JSON; `msisdn` is the recipient,
 * `message-timestamp` UTC) and status callbacks of the Messages API.
 *
 * @see https://developer.vonage.com/en/messaging/sms/guides/delivery-receipts
 * @see https://developer.vonage.com/en/messages/concepts/messages-status-callbacks
 */
export function vonageParser(): DeliveryReportParser {
  return fieldMapParser({
    except: ['type', 'message_type', 'message'],
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

/**
 * What people wrote to a Vonage number: webhooks of the SMS API (query, form or JSON; a long text comes
 * in parts, each a message of its own) and of the Messages API, v1 and v0.1.
 *
 * @see https://developer.vonage.com/en/messaging/sms/guides/inbound-sms
 * @see https://developer.vonage.com/en/messages/concepts/inbound-messages
 */
export function vonageInboundParser(): InboundParser {
  return inboundMapParser({
    except: 'status',
    messageId: ['messageId', 'message_uuid'],
    from: ['msisdn', 'from.number', 'from'],
    to: ['to.number', 'to'],
    text: ['text', 'message.content.text', 'button.text', 'reply.title'],
    channel: ['channel', 'from.type'],
    time: ['message-timestamp', 'timestamp'],
    timeFormat: 'utc',
  });
}
