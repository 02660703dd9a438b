import { valuesOf } from '../../callbacks/callback-fields.js';
import { callbackParser, opensWhatsAppWindow } from '../../callbacks/callback-map.js';
import {
  buttonOf,
  contactsOf,
  locationOf,
  mediaOf,
  otherOf,
  reactionOf,
  rowOf,
} from '../../callbacks/inbound-contents.js';
import { isBodyHash, isSignedBy, readSecrets, type Secrets } from '../../callbacks/verifiers.js';
import type { InboundContent, InboundFile } from '../../message/content/inbound-content.js';
import { own } from '../../message/report-fields.js';
import type { CallbackParser, CallbackVerifier } from '../../ports/callback-parser.js';
import {
  duration,
  group,
  optional,
  type ReadersOf,
  text,
  withDefault,
  type Duration,
} from '../../ports/option-schema.js';

/** Vonage's words for each status of a message; the last of a list are the carriers' spellings. */
export const VONAGE_STATUSES = {
  sent: ['accepted', 'buffered', 'submitted', 'acceptd'],
  delivered: ['delivered', 'delivrd'],
  read: 'read',
  expired: 'expired',
  failed: 'failed',
  rejected: ['rejected', 'rejectd'],
  undelivered: ['undeliverable', 'undeliv', 'deleted'],
};

/**
 * Parser of Vonage's SMS API (query, form or JSON; `msisdn` is the other side, `message-timestamp`
 * is UTC, and each part of a long text is a message of its own) and Messages API, v1 and v0.1:
 * delivery receipts, status callbacks and messages to its numbers. The `client_ref` of a report is the
 * submission, as {@link vonage} sends it.
 * @see https://developer.vonage.com/en/messaging/sms/guides/delivery-receipts
 * @see https://developer.vonage.com/en/messages/concepts/messages-status-callbacks
 * @see https://developer.vonage.com/en/messaging/sms/guides/inbound-sms
 * @see https://developer.vonage.com/en/messages/concepts/inbound-messages
 */
export function vonageParser(): CallbackParser {
  return callbackParser({
    reports: {
      except: ['type', 'message_type', 'message'],
      submissionId: ['client_ref', 'client-ref'],
      messageId: ['messageId', 'message_uuid'],
      recipient: ['msisdn', 'to'],
      status: 'status',
      statuses: VONAGE_STATUSES,
      errorCode: ['err-code', 'error.title'],
      time: ['message-timestamp', 'timestamp'],
      timeFormat: 'utc',
    },
    messages: {
      except: 'status',
      messageId: ['messageId', 'message_uuid'],
      from: ['msisdn', 'from.number', 'from'],
      to: ['to.number', 'to'],
      text: [
        'text',
        'message.content.text',
        'button.text',
        'reply.title',
        ...['image', 'video', 'file'].flatMap((kind) => [
          `${kind}.caption`,
          `message.content.${kind}.caption`,
        ]),
      ],
      content: contentIn,
      profileName: 'profile.name',
      repliesTo: 'context.message_uuid',
      opensWindow: (entry) => {
        const [type] = valuesOf(entry, ['message_type', 'message.content.type']);
        const [emoji] = valuesOf(entry, ['reaction.emoji']);
        const isTaken = valuesOf(entry, ['reaction.action']).includes('unreact');
        return opensWhatsAppWindow(type, isTaken ? undefined : emoji);
      },
      channel: 'sms',
      channelWord: ['channel', 'from.type'],
      channels: { sms: 'mms', whatsapp: 'whatsapp' },
      time: ['message-timestamp', 'timestamp'],
      timeFormat: 'utc',
    },
  });
}

/** Vonage's words for files. */
const FILES: Readonly<Record<string, InboundFile['type']>> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  file: 'document',
  vcard: 'document',
  sticker: 'sticker',
};

/** Of the Messages API; `undefined`: a text, also of the SMS API. */
function contentIn(entry: object): InboundContent | undefined {
  const inner = own(own(entry, 'message'), 'content');
  const message = inner ?? entry;
  const type = own(message, inner === undefined ? 'message_type' : 'type');
  if (type === undefined || type === 'text') return undefined;
  return known(type, message, entry) ?? otherOf(type, entry);
}

function known(type: unknown, message: unknown, entry: object): InboundContent | undefined {
  const part = typeof type === 'string' ? own(message, type) : undefined;
  switch (type) {
    case 'location':
      return locationOf({
        latitude: own(part, 'lat') ?? own(part, 'latitude'),
        longitude: own(part, 'long') ?? own(part, 'longitude'),
        name: own(part, 'name'),
        address: own(part, 'address'),
        url: own(part, 'url'),
      });
    case 'contacts':
      return contactsOf(part);
    case 'reaction':
      return reactionOf(own(part, 'emoji'), own(own(entry, 'context'), 'message_uuid'));
    case 'button':
      return buttonOf(own(part, 'text'), own(part, 'payload'));
    case 'reply': {
      const [id, title] = [own(part, 'id'), own(part, 'title')];
      const description = own(part, 'description');
      // Vonage does not tell a row without a description from a button.
      return description === undefined ? buttonOf(title, id) : rowOf({ id, title, description });
    }
    default:
      return filesIn(type, part, message);
  }
}

/** An MMS with several files lists them as `content`. */
function filesIn(type: unknown, part: unknown, message: unknown): InboundContent | undefined {
  const listed = own(message, 'content');
  const files = Array.isArray(listed) ? listed : [part];
  const given = files.map((file: unknown) => {
    const word = own(file, 'type') ?? type;
    return {
      type: typeof word === 'string' ? FILES[word] : undefined,
      filename: own(file, 'name'),
      source: own(file, 'url'),
    };
  });
  return mediaOf(given, own(files[0], 'caption'));
}

export interface VonageSignatureOptions {
  /** The account's signature secret; two during a rotation. */
  readonly secret: Secrets;
  /** Required claims, where one secret signs for several accounts or apps. @default none */
  readonly claims?: {
    readonly api_key?: string;
    readonly application_id?: string;
  };
  /** How old or early a token may be. @default '5m' */
  readonly tolerance?: Duration;
}

const read = group({
  secret: readSecrets,
  claims: group({ api_key: optional(text), application_id: optional(text) }),
  tolerance: withDefault(duration(1), '5m'),
} satisfies ReadersOf<VonageSignatureOptions>);

/**
 * Verifies Vonage's signed webhooks (Messages API): a JSON Web Token, HS256 (RFC 7515, 7519), in
 * the `Authorization` header, whose `payload_hash` is the SHA-256 of the body. A GET always fails.
 * So does a delivery receipt of the SMS API, which has no token: use `sharedSecret()` for those.
 * @example
 * vonageSignature({ secret: process.env.VONAGE_SIGNATURE_SECRET })
 * @see https://developer.vonage.com/en/getting-started/concepts/webhooks#decoding-signed-webhooks
 * @throws MessagingConfigError naming the wrong option
 */
export function vonageSignature(options: VonageSignatureOptions): CallbackVerifier {
  const { secret, claims: wanted, tolerance } = read('vonageSignature', options);
  return {
    verify: (request) => {
      if (request.method === 'GET') return false;
      const claims = claimsOf(request.headers.authorization, secret);
      const issuedAt = own(claims, 'iat');
      if (typeof issuedAt !== 'number') return false;
      if (Math.abs(request.receivedAt - issuedAt * 1_000) > tolerance) return false;
      const isOther = ([name, value]: [string, unknown]) =>
        value !== undefined && own(claims, name) !== value;
      if (Object.entries(wanted).some(isOther)) return false;
      return isBodyHash(request, own(claims, 'payload_hash'));
    },
  };
}

/** Claims of a bearer token; `undefined` where no secret has signed it with HS256. */
function claimsOf(header: unknown, secrets: readonly string[]): unknown {
  const token =
    typeof header === 'string' && /^bearer +([\w-]+)\.([\w-]+)\.([\w-]+)$/i.exec(header);
  if (!token) return undefined;
  const [, head = '', payload = '', signature = ''] = token;
  const given = Buffer.from(signature, 'base64url');
  const isSigned = isSignedBy(secrets, 'sha256', `${head}.${payload}`, [given]);
  // The header's algorithm must be HS256, the only one that the secret verifies.
  return isSigned && own(json(head), 'alg') === 'HS256' ? json(payload) : undefined;
}

function json(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    return undefined;
  }
}
