import { isObject, valuesOf } from '../../callbacks/callback-fields.js';
import {
  callbackParser,
  opensWhatsAppWindow,
  type ReportMap,
  textOf,
} from '../../callbacks/callback-map.js';
import {
  buttonOf,
  contactsOf,
  flowOf,
  locationOf,
  mediaOf,
  otherOf,
  reactionOf,
  rowOf,
} from '../../callbacks/inbound-contents.js';
import type { InboundContent, InboundFile } from '../../message/content/inbound-content.js';
import { own, word } from '../../message/report-fields.js';
import type { CallbackParser } from '../../ports/callback-parser.js';

/** Fields of a report, which are those of a log too. */
export const INFOBIP_REPORTS: ReportMap = {
  submissionId: 'callbackData',
  reference: 'bulkId',
  messageId: 'messageId',
  recipient: ['to', 'destination'],
  status: ['status.name', 'status.groupName'],
  statuses: {
    sent: ['delivered_to_operator', 'pending'],
    delivered: 'delivered',
    undelivered: 'undeliverable',
    expired: 'expired',
    rejected: 'rejected',
  },
  errorCode: 'error.name',
  noError: ['NO_ERROR'],
  time: 'doneAt',
};

/**
 * Parser of Infobip's reports and of messages to its numbers, SMS, MMS or WhatsApp: up to 100
 * `results` in one JSON. The `callbackData` of a report is the submission, as `infobip()` sends it. The status group decides, except `DELIVERED_TO_OPERATOR`: not on the
 * handset.
 * @see https://www.infobip.com/docs/api/channels/sms/sms-messaging/logs-and-status-reports/receive-outbound-sms-message-report
 * @see https://www.infobip.com/docs/developer-resources/api-fundamentals/message-status-codes
 * @see https://www.infobip.com/docs/api/channels/sms/inbound-sms/receive-inbound-sms-messages
 * @see https://www.infobip.com/docs/api/channels/whatsapp/receive-whatsapp-messages
 */
export function infobipParser(): CallbackParser {
  return callbackParser({
    entries: 'results',
    reports: {
      except: 'receivedAt',
      ...INFOBIP_REPORTS,
    },
    messages: {
      except: 'status',
      messageId: 'messageId',
      from: 'from',
      to: 'to',
      text: textIn,
      content: contentIn,
      profileName: 'contact.name',
      repliesTo: 'message.context.id',
      opensWindow: (entry) => {
        const message = own(entry, 'message');
        const type = own(entry, 'groupId') === undefined ? own(message, 'type') : 'group';
        return opensWhatsAppWindow(type, own(message, 'emoji'));
      },
      channel: 'sms',
      channelWord: 'integrationType',
      channels: { sms: 'mms', whatsapp: 'whatsapp' },
      time: 'receivedAt',
    },
  });
}

/** The text, caption or answer: of an MMS, its parts of plain text. */
function textIn(entry: object): string | null {
  const message = own(entry, 'message');
  const parts = Array.isArray(message) ? message.map(partOf).filter((text) => text !== null) : [];
  if (parts.length > 0) return parts.join('\n');
  const form = own(message, 'response');
  if (isObject(form)) return JSON.stringify(form);
  const fields = ['text', 'message.text', 'message.title', 'message.caption'];
  return (
    valuesOf(entry, fields)
      .map(textOf)
      .find((text) => text !== null) ?? null
  );
}

function partOf(part: unknown): string | null {
  const type = own(part, 'contentType');
  return typeof type === 'string' && /^text\/plain\b/i.test(type)
    ? textOf(own(part, 'value'))
    : null;
}

/** Infobip's words for files. */
const FILES: Readonly<Record<string, InboundFile['type']>> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  voice: 'voice',
  document: 'document',
  sticker: 'sticker',
};

/** `undefined`: a text, also of SMS. */
function contentIn(entry: object): InboundContent | undefined {
  const message = own(entry, 'message');
  if (Array.isArray(message)) {
    const files = message.map((part: unknown) => ({
      contentType: own(part, 'contentType'),
      source: own(part, 'url'),
    }));
    return mediaOf(files, textIn(entry));
  }
  const type = word(own(message, 'type'))?.toLowerCase();
  if (type === undefined || type === 'text') return undefined;
  return known(type, message) ?? otherOf(type, message);
}

function known(type: string, message: unknown): InboundContent | undefined {
  const field = (name: string) => own(message, name);
  switch (type) {
    case 'location':
      return locationOf(message);
    case 'contact':
      return contactsOf(field('contacts'));
    case 'reaction':
      return reactionOf(field('emoji'), field('messageId') ?? own(field('context'), 'id'));
    case 'button':
      return buttonOf(field('text'), field('payload'));
    case 'interactive_button_reply':
      return buttonOf(field('title'), field('id'));
    case 'interactive_list_reply':
      return rowOf(message);
    case 'interactive_flow_reply':
      return flowOf(undefined, field('response'));
    default: {
      const file = Object.hasOwn(FILES, type) ? FILES[type] : undefined;
      return file && mediaOf([{ type: file, source: field('url') }], field('caption'));
    }
  }
}
