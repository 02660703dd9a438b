import { createHash } from 'node:crypto';
import { callbackParser } from '../../callbacks/callback-map.js';
import { mediaOf, otherOf } from '../../callbacks/inbound-contents.js';
import {
  isOfTheLastDays,
  isSignedBy,
  rawBodyOf,
  readAuthToken,
  readSecrets,
  type Secrets,
} from '../../callbacks/verifiers.js';
import type { InboundContent } from '../../message/content/inbound-content.js';
import { own } from '../../message/report-fields.js';
import type { CallbackParser, CallbackVerifier } from '../../ports/callback-parser.js';
import { group, type ReadersOf } from '../../ports/option-schema.js';

/** Bird's words for each status of a message. */
export const BIRD_STATUSES = {
  sent: ['accepted', 'sent'],
  delivered: 'delivered',
  undelivered: 'delivery_failed',
  failed: 'sending_failed',
};

/**
 * Parser of the webhooks of Bird's Channels API: `sms.outbound`, whose `reference` is the submission, as
 * {@link bird} sends it, and `sms.inbound`. An inbound message that does not name the number that
 * received it is one to the id of the channel. Other events are skipped.
 * @see https://docs.bird.com/api/channels-api/message-status-and-interactions
 * @see https://docs.bird.com/api/channels-api/supported-channels/programmable-sms/receiving-messages
 */
export function birdParser(): CallbackParser {
  return callbackParser({
    reports: {
      except: (entry) => own(entry, 'event') !== 'sms.outbound',
      submissionId: 'payload.reference',
      messageId: 'payload.id',
      recipient: 'payload.receiver.contacts.0.identifierValue',
      status: 'payload.status',
      statuses: BIRD_STATUSES,
      errorCode: 'payload.failure.code',
      time: 'payload.lastStatusAt',
    },
    messages: {
      except: (entry) => own(entry, 'event') !== 'sms.inbound',
      messageId: 'payload.id',
      from: 'payload.sender.contact.identifierValue',
      to: ['payload.receiver.connector.identifierValue', 'payload.channelId'],
      text: ['text', 'image', 'file'].map((type) => `payload.body.${type}.text`),
      content: contentIn,
      channel: 'sms',
      time: 'payload.createdAt',
    },
  });
}

/** `undefined`: a text. */
function contentIn(entry: object): InboundContent | undefined {
  const body = own(own(entry, 'payload'), 'body');
  const type = own(body, 'type');
  const [image, file] = [own(body, 'image'), own(body, 'file')];
  const listed = type === 'image' ? own(image, 'images') : own(file, 'files');
  const files = (Array.isArray(listed) ? listed : []).map((one: unknown) => ({
    type: type === 'image' ? ('image' as const) : undefined,
    contentType: own(one, 'contentType'),
    filename: own(one, 'filename'),
    source: own(one, 'mediaUrl'),
  }));
  const media = mediaOf(files, own(type === 'image' ? image : file, 'text'));
  return media ?? (type === undefined || type === 'text' ? undefined : otherOf(type, body));
}

export interface BirdSignatureOptions {
  /** The signing key of the webhook subscription; several during a rotation. */
  readonly signingKey: Secrets;
  readonly origin: string;
}

const read = group({
  signingKey: readSecrets,
  origin: readAuthToken.readers.origin,
} satisfies ReadersOf<BirdSignatureOptions>);

/**
 * Verifies `messagebird-signature`: base64 HMAC-SHA256 over `messagebird-request-timestamp`, the address
 * as Bird calls it and the SHA-256 of the body, a line each. A GET always fails. The time is of the
 * last three days: Bird repeats a webhook for hours.
 * @example
 * birdSignature({ signingKey: process.env.BIRD_SIGNING_KEY, origin: 'https://app.example.com' })
 * @see https://docs.bird.com/api/notifications-api/api-reference/webhook-subscriptions/verifying-a-webhook-subscription
 * @throws MessagingConfigError naming the wrong option
 */
export function birdSignature(options: BirdSignatureOptions): CallbackVerifier {
  const { signingKey, origin } = read('birdSignature', options);
  return {
    verify: (request) => {
      const { method, headers, url, receivedAt } = request;
      const given = headers['messagebird-signature'];
      const at = headers['messagebird-request-timestamp'];
      if (method === 'GET' || typeof given !== 'string' || typeof at !== 'string') return false;
      if (!isOfTheLastDays(at, receivedAt)) return false;
      const hash = createHash('sha256').update(rawBodyOf(request)).digest();
      const signed = Buffer.concat([Buffer.from(`${at}\n${origin}${url}\n`), hash]);
      return isSignedBy(signingKey, 'sha256', signed, [Buffer.from(given, 'base64')]);
    },
  };
}
