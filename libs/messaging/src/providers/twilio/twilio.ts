import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { fieldMapParser, inboundMapParser } from '../../callbacks/map.parsers.js';
import {
  type Secrets,
  checkedOrigin,
  checkedSecrets,
  rawBodyOf,
  sameText,
} from '../../callbacks/verifiers/secret.js';
import type {
  CallbackRequest,
  CallbackVerifier,
  DeliveryReportParser,
} from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';

/**
 * Parser of Twilio's status callbacks: one form for each status of a message, with its SID and without a time.
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
 * Parser of messages to a Twilio number: a form, without a time. The prefix `whatsapp:` in the addresses marks
 * WhatsApp; messages of other channels are skipped.
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

export interface TwilioSignatureOptions {
  /** The account's auth token; two during a rotation. */
  readonly authToken: Secrets;
  /**
   * Scheme and host as Twilio calls them, such as `https://app.example.com`; behind a proxy, the request does not
   * contain them.
   */
  readonly origin: string;
}

const FORM = 'application/x-www-form-urlencoded';

/**
 * Verifies `X-Twilio-Signature`: base64 HMAC-SHA1 over the address as Twilio calls it and the sorted fields of the
 * form. For another body, the address contains its SHA-256.
 *
 * @see https://www.twilio.com/docs/usage/security#validating-requests
 * @throws MessagingConfigError naming the wrong option
 */
export function twilioSignature(options: TwilioSignatureOptions): CallbackVerifier {
  const tokens = checkedSecrets('twilioSignature.authToken', options.authToken);
  const origin = checkedOrigin('twilioSignature.origin', options.origin);
  return {
    verify: (request) => {
      const given = request.headers['x-twilio-signature'];
      if (typeof given !== 'string') return false;
      const fields = signedFields(request);
      if (fields === undefined) return false;
      const signature = Buffer.from(given, 'base64');
      return tokens
        .map((token) =>
          createHmac('sha1', token).update(`${origin}${request.url}${fields}`).digest(),
        )
        .map((own) => own.length === signature.length && timingSafeEqual(own, signature))
        .includes(true);
    },
  };
}

/** Text that is signed after the address; `undefined` where the body does not match the hash in the address. */
function signedFields(request: CallbackRequest): string | undefined {
  if (request.method === 'GET') return '';
  const raw = rawBodyOf(request);
  const type = request.headers['content-type'];
  if (typeof type === 'string' && type.startsWith(FORM)) return sortedFields(raw);
  const given = new URLSearchParams(request.url.split('?')[1] ?? '').get('bodySHA256');
  const own = createHash('sha256').update(raw).digest('hex');
  return given !== null && sameText(given.toLowerCase(), own) ? '' : undefined;
}

/** Sorts fields by name, then by value, and drops duplicates. */
function sortedFields(raw: Buffer): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(raw.toString()))
    values.set(name, (values.get(name) ?? new Set()).add(value));
  return [...values.keys()]
    .sort()
    .map((name) =>
      [...(values.get(name) ?? [])]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('');
}
