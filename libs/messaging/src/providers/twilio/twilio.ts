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
 * Twilio's status callbacks: a form per status of one message, named by its SID, without a time.
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
 * What people wrote to a Twilio number: a form, without a time. `whatsapp:` in front of the addresses says
 * WhatsApp; other channels' messages are passed over.
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
  /** Scheme and host as Twilio calls them, such as `https://app.example.com`: behind a proxy nobody else knows. */
  readonly origin: string;
}

const FORM = 'application/x-www-form-urlencoded';

/**
 * `X-Twilio-Signature`: base64 HMAC-SHA1 over the address as Twilio calls it and the form's fields,
 * sorted; of another body, the address carries its SHA-256.
 *
 * @see https://www.twilio.com/docs/usage/security#validating-requests
 * @throws MessagingConfigError naming the wrong option.
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

/** What is signed behind the address; `undefined`: the body is not the one the address speaks of. */
function signedFields(request: CallbackRequest): string | undefined {
  if (request.method === 'GET') return '';
  const raw = rawBodyOf(request);
  const type = request.headers['content-type'];
  if (typeof type === 'string' && type.startsWith(FORM)) return sortedFields(raw);
  const told = new URLSearchParams(request.url.split('?')[1] ?? '').get('bodySHA256');
  const own = createHash('sha256').update(raw).digest('hex');
  return told !== null && sameText(told.toLowerCase(), own) ? '' : undefined;
}

/** By name, then by value; the same twice counts once. */
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
