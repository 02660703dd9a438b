import { isDeepStrictEqual } from 'node:util';
import {
  callbackParser,
  namingSubmission,
  opensWhatsAppWindow,
} from '../../callbacks/callback-map.js';
import {
  buttonOf,
  flowOf,
  locationOf,
  mediaOf,
  otherOf,
  reactionOf,
  rowOf,
} from '../../callbacks/inbound-contents.js';
import {
  type AuthTokenOptions,
  isBodyHash,
  isSignedBy,
  readAuthToken,
  signedForm,
} from '../../callbacks/verifiers.js';
import type { InboundContent } from '../../message/content/inbound-content.js';
import { own } from '../../message/report-fields.js';
import type {
  CallbackParser,
  CallbackRequest,
  CallbackVerifier,
} from '../../ports/callback-parser.js';

/** Twilio's words for each status of a message. */
export const TWILIO_STATUSES = {
  sent: ['accepted', 'scheduled', 'queued', 'sending', 'sent'],
  delivered: 'delivered',
  read: 'read',
  undelivered: 'undelivered',
  failed: ['failed', 'canceled'],
};

/** Most files of a message. */
const MOST_FILES = 10;

/**
 * Parser of Twilio's status callbacks (a form for each status of a message; the address of those of
 * `twilio()` names the submission) and of messages to its numbers, both without a time. The prefix
 * `whatsapp:` marks WhatsApp; other channels are skipped.
 * @see https://www.twilio.com/docs/messaging/guides/track-outbound-message-status
 * @see https://www.twilio.com/docs/messaging/guides/webhook-request
 */
export function twilioParser(): CallbackParser {
  const parser = callbackParser({
    reports: {
      // The only mark of every inbound message: contacts and rows of a list have no `Body`.
      except: (entry) => ['received', 'receiving'].includes(String(own(entry, 'SmsStatus'))),
      messageId: ['MessageSid', 'SmsSid'],
      recipient: 'To',
      status: ['MessageStatus', 'SmsStatus'],
      statuses: TWILIO_STATUSES,
      errorCode: 'ErrorCode',
    },
    messages: {
      except: 'MessageStatus',
      messageId: ['MessageSid', 'SmsMessageSid', 'SmsSid'],
      from: 'From',
      bsuid: ['ExternalUserId', 'ExternalUserIdentifier'],
      to: 'To',
      text: ['Body', 'ButtonText', 'ListTitle', 'InteractiveData'],
      content: contentIn,
      profileName: 'ProfileName',
      repliesTo: 'OriginalRepliedMessageSid',
      opensWindow: (entry) => opensWhatsAppWindow(own(entry, 'MessageType'), own(entry, 'Body')),
      channel: 'sms',
      channels: { whatsapp: 'whatsapp' },
    },
  });
  return namingSubmission(parser);
}

function contentIn(entry: object): InboundContent | undefined {
  const field = (name: string) => own(entry, name);
  const type = field('MessageType');
  const files = Array.from({ length: MOST_FILES }, (_, n) => ({
    type: type === 'sticker' ? ('sticker' as const) : undefined,
    contentType: field(`MediaContentType${n}`),
    source: field(`MediaUrl${n}`),
  }));
  const media = mediaOf(files, field('Body'));
  if (media) return media;
  const [latitude, longitude] = [field('Latitude'), field('Longitude')];
  const place = { latitude, longitude, name: field('Label'), address: field('Address') };
  const location = locationOf(place);
  if (location) return location;
  if (type === 'reaction') return reactionOf(field('Body'), field('OriginalRepliedMessageSid'));
  if (field('ListId') !== undefined)
    return rowOf({
      id: field('ListId'),
      title: field('ListTitle'),
      description: field('ListDescription'),
    });
  if (field('ButtonText') !== undefined || field('ButtonPayload') !== undefined)
    return buttonOf(field('ButtonText'), field('ButtonPayload'));
  if (field('InteractiveData') !== undefined) return flowOf(undefined, field('InteractiveData'));
  const isText = type === undefined || type === 'text';
  return isText && field('Body') !== undefined && field('Body') !== ''
    ? undefined
    : otherOf(type, entry);
}

/**
 * Verifies `X-Twilio-Signature`: base64 HMAC-SHA1 over the address as Twilio calls it and the
 * sorted fields of the form. For another body, the address contains its SHA-256.
 * @see https://www.twilio.com/docs/usage/security#validating-requests
 * @throws MessagingConfigError naming the wrong option
 */
export function twilioSignature(options: AuthTokenOptions): CallbackVerifier {
  const { authToken, origin } = readAuthToken('twilioSignature', options);
  return {
    verify: (request) => {
      const given = request.headers['x-twilio-signature'];
      if (typeof given !== 'string') return false;
      const fields = signedFields(request);
      if (fields === undefined) return false;
      const signature = Buffer.from(given, 'base64');
      return isSignedBy(authToken, 'sha1', `${origin}${request.url}${fields}`, [signature]);
    },
  };
}

/** A repeated field once; `undefined` where the body does not match the hash in the address. */
function signedFields(request: CallbackRequest): string | undefined {
  if (request.method === 'GET') return '';
  const form = signedForm(request);
  if (form)
    return form
      .filter((field, index) => index === 0 || !isDeepStrictEqual(field, form[index - 1]))
      .flat()
      .join('');
  const given = new URLSearchParams(request.url.split('?')[1] ?? '').get('bodySHA256');
  return isBodyHash(request, given) ? '' : undefined;
}
