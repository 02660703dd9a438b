import { decoderOf, unescaped } from '../../callbacks/callback-body.js';
import { callbackParser, textOf } from '../../callbacks/callback-map.js';
import { locationOf, mediaOf, otherOf } from '../../callbacks/inbound-contents.js';
import type { DeliveryReport } from '../../message/events.js';
import type { InboundContent } from '../../message/content/inbound-content.js';
import { own } from '../../message/report-fields.js';
import type { CallbackParser } from '../../ports/callback-parser.js';

/**
 * Parser of Clickatell's status callbacks and of messages to its numbers: REST API (flat JSON) and
 * One API, SMS or WhatsApp. The `clientMessageId` of a report is submission and recipient, as
 * `clickatell()` sends it. Times are milliseconds. The status `UNKNOWN` changes no message.
 * @see https://www.clickatell.com/developers/api-documentation/rest-api-status-callback/
 * @see https://www.clickatell.com/developers/api-documentation/rest-api-reply-callback/
 * @see https://docs.clickatell.com/channels/one-api/one-api-message-status-table/
 * @see https://www.clickatell.com/developers/api-documentation/one-api-received-message-callback/
 */
export function clickatellParser(): CallbackParser {
  const parser = callbackParser({
    // Lists of One API.
    entries: ['event.messageStatusUpdate', 'event.moText', 'event.moMedia', 'event.moLocation'],
    reports: {
      except: 'replyMessageId',
      submissionId: 'clientMessageId',
      messageId: 'messageId',
      recipient: 'to',
      status: 'status',
      statuses: {
        sent: ['queued', 'scheduled', 'sent_to_supplier', 'delivered_to_gateway'],
        delivered: ['received_by_recipient', 'device_ack'],
        read: 'read',
        expired: 'expired',
        rejected: [
          'stopped_by_user',
          'stopped_by_admin',
          'insufficient_account_balance',
          'volume_limit',
          'volume_limit_daily',
          'volume_limit_monthly',
        ],
        undelivered: ['delivery_failure', 'recipient_does_not_exist'],
        failed: 'routing_error',
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
      text: textIn,
      content: contentIn,
      profileName: 'whatsapp.profileName',
      // The `messageId` of the REST API, whose own id is `replyMessageId`.
      repliesTo: ['relatedMessageId', 'messageId'],
      channel: 'sms',
      channelWord: 'channel',
      channels: { sms: 'mms', whatsapp: 'whatsapp' },
      time: 'timestamp',
      timeFormat: 'epoch-milliseconds',
    },
  });
  return {
    parse: (request) => {
      const parsed = parser.parse(request);
      return { ...parsed, reports: (parsed.reports ?? []).map(withRecipient) };
    },
  };
}

/** Our id of a message: its reports do not name the recipient. */
export function clientMessageId(submissionId: string, recipient: string): string {
  return `${submissionId}.${recipient}`;
}

function withRecipient({ submissionId: given, ...report }: DeliveryReport): DeliveryReport {
  const [, submissionId, recipient] = /^(.+)\.(\d+)$/.exec(given ?? '') ?? [];
  if (submissionId === undefined || recipient === undefined) return report;
  return { ...report, submissionId, recipient: report.recipient ?? recipient };
}

/** Texts in another character set than UTF-8 are percent-encoded bytes. */
const ENCODED = /^(?:[^%\u0100-\uffff]|%[0-9a-f]{2})*$/i;

const isMedia = (entry: object): boolean =>
  Object.hasOwn(entry, 'contentType') || Object.hasOwn(entry, 'files');

/** The text, or the caption of media, whose `content` is a file. */
function textIn(entry: object): string | null {
  const text = textOf(
    isMedia(entry) ? own(entry, 'caption') : (own(entry, 'text') ?? own(entry, 'content')),
  );
  const charset = own(entry, 'charset');
  if (text === null || typeof charset !== 'string' || /^utf-?8$/i.test(charset.trim())) return text;
  return ENCODED.test(text) ? decoderOf(charset).decode(unescaped(text)) : text;
}

/** `undefined`: a text. Media whose bytes are in the callback have no address, and are not kept. */
function contentIn(entry: object): InboundContent | undefined {
  const files = own(entry, 'files');
  const caption = own(entry, 'caption');
  const given = (Array.isArray(files) ? files : []).map((file: unknown) => ({
    contentType: own(file, 'contentType'),
    filename: own(file, 'fileName'),
    size: own(file, 'byteSize'),
    source: own(file, 'downloadUrl'),
  }));
  const media = mediaOf(given, caption);
  if (media) return media;
  if (isMedia(entry)) return otherOf('media', { contentType: own(entry, 'contentType'), caption });
  const place = own(entry, 'location') ?? entry;
  const [latitude, longitude] = [own(place, 'latitude'), own(place, 'longitude')];
  const [name, address] = [own(place, 'name'), own(place, 'address')];
  return (
    locationOf({ latitude, longitude, name, address }) ??
    (textIn(entry) === null ? otherOf(undefined, entry) : undefined)
  );
}
