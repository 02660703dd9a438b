import { callbackParser } from '../../callbacks/callback-map.js';
import type { CallbackParser } from '../../ports/callback-parser.js';

/**
 * Parser of Africa's Talking's delivery reports (one form for each status of a message, without a
 * time) and of messages to its numbers and short codes. `Failed`: the handset was not reached. The
 * `date` of an inbound message has no zone and is ignored.
 * @see https://developers.africastalking.com/docs/sms/notifications
 */
export function africasTalkingParser(): CallbackParser {
  return callbackParser({
    reports: {
      except: 'text',
      messageId: 'id',
      recipient: 'phoneNumber',
      status: 'status',
      statuses: {
        sent: ['sent', 'submitted', 'buffered'],
        delivered: 'success',
        undelivered: ['failed', 'absentsubscriber'],
        expired: 'expired',
        rejected: 'rejected',
      },
      errorCode: 'failureReason',
    },
    messages: {
      except: 'status',
      messageId: 'id',
      from: 'from',
      to: 'to',
      text: 'text',
      channel: 'sms',
      time: 'date',
    },
  });
}
