import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { fieldMapParser, inboundMapParser } from '../../callbacks/map.parsers.js';
import {
  type Secrets,
  checkedSecrets,
  rawBodyOf,
  sameText,
} from '../../callbacks/verifiers/secret.js';
import { MessagingConfigError } from '../../message/errors.js';
import { type Clock, systemClock } from '../../ports/clock.js';
import type { CallbackVerifier, DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import { type Duration, milliseconds } from '../../ports/duration.js';
import type { InboundParser } from '../../ports/inbound-parser.js';

/**
 * Parser of Vonage's delivery receipts of the SMS API (query, form or JSON; `msisdn` is the recipient,
 * `message-timestamp` is UTC) and of status callbacks of the Messages API.
 *
 * @see https://developer.vonage.com/en/messaging/sms/guides/delivery-receipts
 * @see https://developer.vonage.com/en/messages/concepts/messages-status-callbacks
 */
export function vonageParser(): DeliveryReportParser {
  return fieldMapParser({
    except: ['type', 'message_type', 'message'],
    messageId: ['messageId', 'message_uuid'],
    recipient: ['msisdn', 'to'],
    status: 'status',
    statuses: {
      accepted: 'sent',
      buffered: 'sent',
      submitted: 'sent',
      delivered: 'delivered',
      read: 'read',
      expired: 'expired',
      failed: 'failed',
      rejected: 'rejected',
      undeliverable: 'undelivered',
      // Spelling of the carriers.
      acceptd: 'sent',
      delivrd: 'delivered',
      undeliv: 'undelivered',
      deleted: 'undelivered',
      rejectd: 'rejected',
    },
    errorCode: ['err-code', 'error.title'],
    noError: ['0'],
    time: ['message-timestamp', 'timestamp'],
    timeFormat: 'utc',
  });
}

/**
 * Parser of messages to a Vonage number: webhooks of the SMS API (query, form or JSON; each part of a long text is a
 * message of its own) and of the Messages API, v1 and v0.1.
 *
 * @see https://developer.vonage.com/en/messaging/sms/guides/inbound-sms
 * @see https://developer.vonage.com/en/messages/concepts/inbound-messages
 */
export function vonageInboundParser(): InboundParser {
  return inboundMapParser({
    except: 'status',
    messageId: ['messageId', 'message_uuid'],
    from: ['msisdn', 'from.number', 'from'],
    to: ['to.number', 'to'],
    text: ['text', 'message.content.text', 'button.text', 'reply.title'],
    channel: ['channel', 'from.type'],
    time: ['message-timestamp', 'timestamp'],
    timeFormat: 'utc',
  });
}

export interface VonageSignatureOptions {
  /** The account's signature secret; two during a rotation. */
  readonly secret: Secrets;
  /** Claims that a token must have, where one secret signs for several accounts or applications. */
  readonly claims?: { readonly api_key?: string; readonly application_id?: string };
  /** How old or early a token may be. @default '5m' */
  readonly tolerance?: Duration;
  /** @default the system clock */
  readonly clock?: Pick<Clock, 'now'>;
}

/** Longest accepted token in characters; a token of Vonage has about five hundred. */
const MAX_TOKEN = 4_096;

/**
 * Verifies Vonage's signed webhooks (Messages API): a JSON Web Token, HS256 (RFC 7515, 7519), in the `Authorization`
 * header, whose `payload_hash` is the SHA-256 of the body. A GET always fails. So does a delivery receipt of the SMS
 * API, which has no token: use `sharedSecret()` for those.
 *
 * @example
 * vonageSignature({ secret: process.env.VONAGE_SIGNATURE_SECRET })
 * @see https://developer.vonage.com/en/getting-started/concepts/webhooks#decoding-signed-webhooks
 * @throws MessagingConfigError naming the wrong option
 */
export function vonageSignature(options: VonageSignatureOptions): CallbackVerifier {
  const { claims: wanted = {}, tolerance = '5m', clock = systemClock } = options;
  const secrets = checkedSecrets('vonageSignature.secret', options.secret);
  const leeway = milliseconds('vonageSignature.tolerance', tolerance);
  if (leeway <= 0)
    throw new MessagingConfigError('vonageSignature.tolerance: must be more than nothing');
  return {
    verify: (request) => {
      if (request.method === 'GET') return false;
      const token = bearer(request.headers.authorization);
      const claims = token && claimsOf(token, secrets);
      if (!claims) return false;
      const { iat, payload_hash: hash } = claims;
      if (typeof iat !== 'number' || Math.abs(clock.now() - iat * 1_000) > leeway) return false;
      if (Object.entries(wanted).some(([name, value]) => claims[name] !== value)) return false;
      const own = createHash('sha256').update(rawBodyOf(request)).digest('hex');
      return typeof hash === 'string' && sameText(hash.toLowerCase(), own);
    },
  };
}

function bearer(header: unknown): string | undefined {
  if (typeof header !== 'string' || header.length > MAX_TOKEN) return undefined;
  return /^bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(header)?.[1];
}

/** Claims of a token; `undefined` where no secret has signed it with HS256. */
function claimsOf(token: string, secrets: readonly string[]): Record<string, unknown> | undefined {
  const [head = '', payload = '', tail = ''] = token.split('.');
  const signature = Buffer.from(tail, 'base64url');
  const signed = secrets
    .map((secret) => createHmac('sha256', secret).update(`${head}.${payload}`).digest())
    .map((own) => own.length === signature.length && timingSafeEqual(own, signature))
    .includes(true);
  // The header's algorithm must be HS256, the only one that the secret verifies.
  return signed && json(head)?.alg === 'HS256' ? json(payload) : undefined;
}

function json(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
