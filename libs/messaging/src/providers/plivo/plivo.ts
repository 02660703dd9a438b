import { createHmac } from 'node:crypto';
import { fieldMapParser, inboundMapParser } from '../../callbacks/map.parsers.js';
import {
  type Secrets,
  anySame,
  checkedOrigin,
  checkedSecrets,
  rawBodyOf,
} from '../../callbacks/verifiers/secret.js';
import type {
  CallbackRequest,
  CallbackVerifier,
  DeliveryReportParser,
} from '../../ports/delivery-report-parser.js';
import type { InboundParser } from '../../ports/inbound-parser.js';

/**
 * Plivo's message status callbacks: form or query. Its times have no zone, and are left alone.
 *
 * @see https://www.plivo.com/docs/messaging/api/message/message-status-callbacks
 */
export function plivoParser(): DeliveryReportParser {
  return fieldMapParser({
    except: ['Text', 'Body', 'ContentType'],
    messageId: 'MessageUUID',
    recipient: 'To',
    status: 'Status',
    statuses: {
      queued: 'sent',
      sent: 'sent',
      delivered: 'delivered',
      read: 'read',
      undelivered: 'undelivered',
      failed: 'failed',
      rejected: 'rejected',
    },
    errorCode: 'ErrorCode',
    noError: ['000'],
  });
}

/**
 * What people wrote to a Plivo number, SMS, MMS or WhatsApp: form or query, without a time.
 *
 * @see https://www.plivo.com/docs/messaging/api/message/handling-incoming
 */
export function plivoInboundParser(): InboundParser {
  return inboundMapParser({
    except: 'Status',
    messageId: 'MessageUUID',
    from: 'From',
    to: 'To',
    text: ['Text', 'Body'],
    channel: 'Type',
  });
}

export interface PlivoSignatureOptions {
  /** The account's auth token, and the subaccount's where one sends; two of them during a rotation. */
  readonly authToken: Secrets;
  /** Scheme and host as Plivo calls them, such as `https://app.example.com`: behind a proxy nobody else knows. */
  readonly origin: string;
}

const FORM = 'application/x-www-form-urlencoded';
/** Signatures in one header that are looked at. */
const MAX_SIGNATURES = 8;

/**
 * Plivo's signatures, HMAC-SHA256 under the auth token. `X-Plivo-Signature-V3` (or `-Ma-V3`, always
 * by the main account's token) covers the address, the fields and a nonce. Callbacks of messages are
 * documented to have `X-Plivo-Signature-V2` alone, over the address without its query and a nonce: it
 * proves who called and not what was said, so keep the address on HTTPS. Where there is one of V3,
 * that of V2 counts for nothing.
 *
 * @see https://docs.plivo.com/docs/messaging/concepts/signature-validation
 * @see https://docs.plivo.com/docs/voice/xml/request/validation
 * @throws MessagingConfigError naming the wrong option.
 */
export function plivoSignature(options: PlivoSignatureOptions): CallbackVerifier {
  const tokens = checkedSecrets('plivoSignature.authToken', options.authToken);
  const origin = checkedOrigin('plivoSignature.origin', options.origin);
  return {
    verify: (request) => {
      const third = signaturesOf(request, 'v3');
      const given = third.length > 0 ? third : signaturesOf(request, 'v2');
      const signed = third.length > 0 ? signedByV3(origin, request) : signedByV2(origin, request);
      if (signed === undefined) return false;
      const own = tokens.map((token) =>
        createHmac('sha256', token).update(signed).digest('base64'),
      );
      return given.map((signature) => anySame(signature, own)).includes(true);
    },
  };
}

/** Of the account and of the main account; a header may have several, by comma. */
function signaturesOf({ headers }: CallbackRequest, version: 'v2' | 'v3'): readonly string[] {
  return [headers[`x-plivo-signature-${version}`], headers[`x-plivo-signature-ma-${version}`]]
    .flatMap((header) => (typeof header === 'string' ? header.split(',', MAX_SIGNATURES) : []))
    .map((signature) => signature.trim());
}

function signedByV2(origin: string, { url, headers }: CallbackRequest): string | undefined {
  const nonce = headers['x-plivo-signature-v2-nonce'];
  return typeof nonce === 'string' ? `${origin}${url.split('?')[0]}${nonce}` : undefined;
}

/** `undefined`: there is no nonce, or the body is no form and the signature does not cover it. */
function signedByV3(origin: string, request: CallbackRequest): string | undefined {
  const nonce = request.headers['x-plivo-signature-v3-nonce'];
  const fields = fieldsOf(request);
  if (typeof nonce !== 'string' || fields === undefined) return undefined;
  const [path = '', query = ''] = request.url.split('?');
  const asked = sorted(new URLSearchParams(query), '=', '&');
  const told = sorted(fields, '', '');
  const mark = asked || told ? '?' : '';
  const dot = asked && told ? '.' : '';
  return `${origin}${path}${mark}${asked}${dot}${told}.${nonce}`;
}

function fieldsOf(request: CallbackRequest): URLSearchParams | undefined {
  if (request.method === 'GET') return new URLSearchParams();
  const raw = rawBodyOf(request).toString();
  const type = request.headers['content-type'];
  const isForm = typeof type === 'string' && type.startsWith(FORM);
  return raw === '' || isForm ? new URLSearchParams(raw) : undefined;
}

/** By name, then by value. */
function sorted(fields: URLSearchParams, equals: string, and: string): string {
  return [...new Set(fields.keys())]
    .sort()
    .flatMap((name) =>
      fields
        .getAll(name)
        .sort()
        .map((value) => `${name}${equals}${value}`),
    )
    .join(and);
}
