import { fieldMapParser, inboundMapParser } from '../../callbacks/map.parsers.js';
import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';

/** Lists of inbound messages in One API, by kind. */
const ONE_API_MESSAGES = ['event.moText', 'event.moMedia', 'event.moLocation'];

/**
 * Parser of Clickatell's status callbacks: of the platform's REST API (flat JSON) and of One API (a list in
 * `event.messageStatusUpdate`). Times are milliseconds. `UNKNOWN` changes no message.
 *
 * @see https://www.clickatell.com/developers/api-documentation/rest-api-status-callback/
 * @see https://docs.clickatell.com/channels/one-api/one-api-message-status-table/
 */
export function clickatellParser(): DeliveryReportParser {
  return fieldMapParser({
    entries: 'event.messageStatusUpdate',
    except: ['replyMessageId', ...ONE_API_MESSAGES],
    messageId: 'messageId',
    recipient: 'to',
    status: 'status',
    statuses: {
      queued: 'sent',
      scheduled: 'sent',
      sent_to_supplier: 'sent',
      delivered_to_gateway: 'sent',
      received_by_recipient: 'delivered',
      device_ack: 'delivered',
      read: 'read',
      expired: 'expired',
      stopped_by_user: 'rejected',
      stopped_by_admin: 'rejected',
      insufficient_account_balance: 'rejected',
      volume_limit: 'rejected',
      volume_limit_daily: 'rejected',
      volume_limit_monthly: 'rejected',
      delivery_failure: 'undelivered',
      recipient_does_not_exist: 'undelivered',
      routing_error: 'failed',
    },
    errorCode: 'statusCode',
    noError: ['2', '3', '4', '5', '6'],
    time: 'timestamp',
    timeFormat: 'epoch-milliseconds',
  });
}

/**
 * Parser of messages to a Clickatell number: the platform's reply callback (flat JSON) and One API's, SMS or
 * WhatsApp. Times are milliseconds.
 *
 * @see https://www.clickatell.com/developers/api-documentation/rest-api-reply-callback/
 * @see https://www.clickatell.com/developers/api-documentation/one-api-received-message-callback/
 */
export function clickatellInboundParser(): InboundParser {
  return inboundMapParser({
    entries: ONE_API_MESSAGES,
    except: ['status', 'event.messageStatusUpdate'],
    messageId: ['replyMessageId', 'messageId'],
    from: ['fromNumber', 'from'],
    to: ['toNumber', 'to'],
    text: ['text', 'content'],
    media: ['contentType', 'files'],
    channel: 'channel',
    time: 'timestamp',
    timeFormat: 'epoch-milliseconds',
  });
}
