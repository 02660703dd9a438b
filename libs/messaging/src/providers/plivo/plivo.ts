import {
  callbackParser,
  namingSubmission,
  opensWhatsAppWindow,
} from '../../callbacks/callback-map.js';
import { buttonOf, mediaOf, otherOf } from '../../callbacks/inbound-contents.js';
import {
  type AuthTokenOptions,
  isSignedBy,
  rawBodyOf,
  readAuthToken,
  signedForm,
  sortedFields,
} from '../../callbacks/verifiers.js';
import type { InboundContent } from '../../message/content/inbound-content.js';
import { own } from '../../message/report-fields.js';
import type {
  CallbackParser,
  CallbackRequest,
  CallbackVerifier,
} from '../../ports/callback-parser.js';

/** Plivo's words for each status of a message. */
export const PLIVO_STATUSES = {
  sent: ['queued', 'sent'],
  delivered: 'delivered',
  read: 'read',
  undelivered: 'undelivered',
  failed: 'failed',
  rejected: 'rejected',
};

/**
 * Parser of Plivo's message status callbacks, whose times have no zone and are ignored (the address of
 * those of `plivo()` names the submission), and of messages to its numbers, SMS, MMS or WhatsApp: form or query.
 * @see https://www.plivo.com/docs/messaging/api/message/message-status-callbacks
 * @see https://www.plivo.com/docs/messaging/api/message/handling-incoming
 */
export function plivoParser(): CallbackParser {
  const parser = callbackParser({
    reports: {
      except: ['Text', 'Body', 'ContentType'],
      messageId: 'MessageUUID',
      recipient: 'To',
      status: 'Status',
      statuses: PLIVO_STATUSES,
      errorCode: 'ErrorCode',
    },
    messages: {
      except: 'Status',
      messageId: 'MessageUUID',
      from: 'From',
      to: 'To',
      text: ['Text', 'Body', 'ButtonText'],
      content: contentIn,
      opensWindow: (entry) => opensWhatsAppWindow(own(entry, 'ContentType'), own(entry, 'Body')),
      channel: 'sms',
      channelWord: 'Type',
      channels: { sms: 'mms', whatsapp: 'whatsapp' },
    },
  });
  return namingSubmission(parser);
}

/** Most files of a message. */
const MOST_FILES = 10;

/** `undefined`: a text. The reference counts files from 1, and its examples from 0. */
function contentIn(entry: object): InboundContent | undefined {
  const contentType = own(entry, 'MimeType');
  const files = Array.from({ length: MOST_FILES + 1 }, (_, n) => ({
    contentType,
    source: own(entry, `Media${n}`),
  }));
  const media = mediaOf(files, own(entry, 'Body'));
  if (media) return media;
  const [title, payload] = [own(entry, 'ButtonText'), own(entry, 'ButtonPayload')];
  if (title !== undefined || payload !== undefined) return buttonOf(title, payload);
  const type = own(entry, 'ContentType');
  return type === undefined || type === 'text' ? undefined : otherOf(type, entry);
}

/**
 * Verifies Plivo's HMAC-SHA256 signatures. `X-Plivo-Signature-V3` (or `-Ma-V3`, always with the
 * main account's token) covers the address, the fields and a nonce, and overrules V2. Plivo
 * documents only `X-Plivo-Signature-V2` for callbacks of messages: it covers the address without
 * its query and a nonce, so it proves the caller but not the content. Use HTTPS.
 * @see https://docs.plivo.com/docs/messaging/concepts/signature-validation
 * @see https://docs.plivo.com/docs/voice/xml/request/validation
 * @throws MessagingConfigError naming the wrong option
 */
export function plivoSignature(options: AuthTokenOptions): CallbackVerifier {
  const { authToken, origin } = readAuthToken('plivoSignature', options);
  return {
    verify: (request) => {
      const third = signaturesOf(request, 'v3');
      const given = third.length > 0 ? third : signaturesOf(request, 'v2');
      const signed = third.length > 0 ? signedByV3(origin, request) : signedByV2(origin, request);
      return signed !== undefined && isSignedBy(authToken, 'sha256', signed, given);
    },
  };
}

/** By the account and the main account; a header may have several, separated by commas. */
function signaturesOf({ headers }: CallbackRequest, version: 'v2' | 'v3'): readonly Buffer[] {
  return [headers[`x-plivo-signature-${version}`], headers[`x-plivo-signature-ma-${version}`]]
    .flatMap((header) => (typeof header === 'string' ? header.split(',') : []))
    .map((signature) => Buffer.from(signature.trim(), 'base64'));
}

function signedByV2(origin: string, { url, headers }: CallbackRequest): string | undefined {
  const nonce = headers['x-plivo-signature-v2-nonce'];
  return typeof nonce === 'string' ? `${origin}${url.split('?')[0]}${nonce}` : undefined;
}

/** `undefined` without a nonce, or where the body is no form, which V3 does not cover. */
function signedByV3(origin: string, request: CallbackRequest): string | undefined {
  const nonce = request.headers['x-plivo-signature-v3-nonce'];
  if (typeof nonce !== 'string') return undefined;
  const isEmpty = request.method === 'GET' || rawBodyOf(request).length === 0;
  const fields = isEmpty ? [] : signedForm(request);
  if (fields === undefined) return undefined;
  const [path = '', query = ''] = request.url.split('?');
  const signedQuery = sortedFields(query)
    .map((field) => field.join('='))
    .join('&');
  const signed = fields.flat().join('');
  const mark = signedQuery || signed ? '?' : '';
  const dot = signedQuery && signed ? '.' : '';
  return `${origin}${path}${mark}${signedQuery}${dot}${signed}.${nonce}`;
}
