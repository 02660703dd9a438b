import { callbackParser } from '../../callbacks/callback-map.js';
import type { CallbackParser } from '../../ports/callback-parser.js';

/**
 * Parser of Clickatell's status callbacks and of messages to its numbers: REST API (flat JSON) and
 * One API, SMS or WhatsApp. Times are milliseconds. The status `UNKNOWN` changes no message.
 * @see https://www.clickatell.com/developers/api-documentation/rest-api-status-callback/
 * @see https://www.clickatell.com/developers/api-documentation/rest-api-reply-callback/
 * @see https://docs.clickatell.com/channels/one-api/one-api-message-status-table/
 * @see https://www.clickatell.com/developers/api-documentation/one-api-received-message-callback/
 */
export function clickatellParser(): CallbackParser {
  return callbackParser({
    // Lists of One API.
    entries: ['event.messageStatusUpdate', 'event.moText', 'event.moMedia', 'event.moLocation'],
    reports: {
      except: 'replyMessageId',
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
    },
    messages: {
      except: 'status',
      messageId: ['replyMessageId', 'messageId'],
      from: ['fromNumber', 'from'],
      to: ['toNumber', 'to'],
      text: ['text', 'content'],
      media: ['contentType', 'files'],
      channel: 'sms',
      channelWord: 'channel',
      channels: { mms: 'sms', whatsapp: 'whatsapp' },
      time: 'timestamp',
      timeFormat: 'epoch-milliseconds',
    },
  });
}
