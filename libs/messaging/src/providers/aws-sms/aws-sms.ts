import { isObject } from '../../callbacks/callback-fields.js';
import { callbackParser } from '../../callbacks/callback-map.js';
import { own } from '../../message/report-fields.js';
import type { CallbackParser, CallbackRequest } from '../../ports/callback-parser.js';

/** Name of our value in the context of a message, which AWS repeats in its events. */
export const CONTEXT = 'submission';

/** Field for the time at which SNS sent an event. */
const SENT_AT = 'snsTimestamp';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Parser of the events of AWS End User Messaging SMS and of messages to its numbers, as notifications of
 * SNS, as events of EventBridge (`detail`) or bare. The `context` of an event names the submission, as
 * {@link awsSms} sends it; events of EventBridge may have none. Events of calls and media are skipped.
 * @see https://docs.aws.amazon.com/sms-voice/latest/userguide/configuration-sets-event-format.html
 * @see https://docs.aws.amazon.com/sms-voice/latest/userguide/two-way-sms-payload.html
 */
export function awsSmsParser(): CallbackParser {
  const parser = callbackParser({
    reports: {
      except: (entry) => !textOf(own(entry, 'eventType')).startsWith('TEXT_'),
      submissionId: `context.${CONTEXT}`,
      messageId: 'messageId',
      recipient: 'destinationPhoneNumber',
      status: 'eventType',
      statuses: {
        // `TEXT_SUCCESSFUL`: the carrier has it. `TEXT_UNKNOWN`: nothing more is ever known.
        sent: ['text_queued', 'text_pending', 'text_sent', 'text_successful', 'text_unknown'],
        delivered: 'text_delivered',
        expired: 'text_ttl_expired',
        undelivered: ['text_invalid', 'text_unreachable', 'text_carrier_unreachable'],
        rejected: [
          'text_blocked',
          'text_carrier_blocked',
          'text_protect_blocked',
          'text_spam',
          'text_invalid_message',
        ],
      },
      time: 'eventTimestamp',
      timeFormat: 'epoch-milliseconds',
    },
    messages: {
      except: (entry) => own(entry, 'inboundMessageId') === undefined,
      messageId: 'inboundMessageId',
      from: 'originationNumber',
      to: 'destinationNumber',
      text: 'messageBody',
      repliesTo: 'previousPublishedMessageId',
      channel: 'sms',
      time: SENT_AT,
    },
  });
  return { parse: (request) => parser.parse(unwrapped(request)) };
}

/**
 * The event that a notification of SNS has as text, also where it comes as `text/plain`, and an event of
 * EventBridge as its detail. Another message of the topic is skipped.
 */
function unwrapped(request: CallbackRequest): CallbackRequest {
  const { method, url, pathSecret, headers, query, rawBody, ip, receivedAt } = request;
  const outer = json(request.body) ?? request.body;
  const message = own(outer, 'Type') === 'Notification' ? own(outer, 'Message') : undefined;
  const body = typeof message === 'string' ? (json(message) ?? { message }) : outer;
  const detail = own(body, 'detail');
  const event = isObject(detail) ? detail : body;
  // An inbound text has no time of its own.
  const sentAt = own(outer, 'Timestamp');
  const timed = isObject(event) && message !== undefined ? { ...event, [SENT_AT]: sentAt } : event;
  return { method, url, pathSecret, headers, query, rawBody, ip, receivedAt, body: timed };
}

function json(text: unknown): object | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
