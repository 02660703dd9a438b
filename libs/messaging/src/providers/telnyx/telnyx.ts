import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { callbackParser, namingSubmission } from '../../callbacks/callback-map.js';
import { mediaOf } from '../../callbacks/inbound-contents.js';
import { rawBodyOf } from '../../callbacks/verifiers.js';
import { MessagingConfigError } from '../../message/errors.js';
import type { InboundContent } from '../../message/content/inbound-content.js';
import { own } from '../../message/report-fields.js';
import type {
  CallbackParser,
  CallbackRequest,
  CallbackVerifier,
} from '../../ports/callback-parser.js';
import {
  duration,
  group,
  type OptionReader,
  type ReadersOf,
  withDefault,
  type Duration,
} from '../../ports/option-schema.js';
import { parsedUrl } from '../../message/url.js';

/** Telnyx's words for each status of a message. */
export const TELNYX_STATUSES = {
  // Without a confirmation of the carrier, nothing more is ever known.
  sent: ['scheduled', 'queued', 'sending', 'sent', 'delivery_unconfirmed'],
  delivered: 'delivered',
  expired: 'expired',
  undelivered: 'delivery_failed',
  failed: ['sending_failed', 'cancelled'],
};

/**
 * Parser of Telnyx's webhooks of messages (API v2): `message.sent` and `message.finalized`, whose
 * signed `webhook_url` names the submission, as {@link telnyx} sends it, and `message.received`, SMS or
 * MMS. Events of other kinds are skipped.
 * @see https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks
 */
export function telnyxParser(): CallbackParser {
  const parser = callbackParser({
    reports: {
      except: (entry) => !['message.sent', 'message.finalized'].includes(kindOf(entry)),
      messageId: 'data.payload.id',
      recipient: 'data.payload.to.0.phone_number',
      status: 'data.payload.to.0.status',
      statuses: TELNYX_STATUSES,
      errorCode: 'data.payload.errors.0.code',
      time: 'data.occurred_at',
    },
    messages: {
      except: (entry) => kindOf(entry) !== 'message.received',
      messageId: 'data.payload.id',
      from: 'data.payload.from.phone_number',
      to: 'data.payload.to.0.phone_number',
      text: 'data.payload.text',
      content: contentIn,
      channel: 'sms',
      channelWord: 'data.payload.type',
      channels: { sms: 'mms' },
      time: 'data.payload.received_at',
    },
  });
  return namingSubmission(parser, webhookQuery);
}

/** `undefined`: a text. */
function contentIn(entry: object): InboundContent | undefined {
  const payload = own(own(entry, 'data'), 'payload');
  const media = own(payload, 'media');
  const files = (Array.isArray(media) ? media : []).map((file: unknown) => ({
    contentType: own(file, 'content_type'),
    size: own(file, 'size'),
    source: own(file, 'url'),
  }));
  return mediaOf(files, own(payload, 'text'));
}

function kindOf(entry: object): string {
  const kind = own(own(entry, 'data'), 'event_type');
  return typeof kind === 'string' ? kind : '';
}

/** Of the address in the body: the signature does not cover the one that is called. */
function webhookQuery({ body }: CallbackRequest): object {
  const address = own(own(own(body, 'data'), 'payload'), 'webhook_url');
  const url = typeof address === 'string' ? parsedUrl(address) : undefined;
  return url ? Object.fromEntries(url.searchParams) : {};
}

const publicKeys: OptionReader<readonly KeyObject[], string | readonly string[]> = (
  option,
  given,
) => {
  const keys = given === undefined ? [] : [given].flat();
  if (keys.length === 0) throw new MessagingConfigError(`${option}: is missing; ${WHERE}`);
  return keys.map((key) => {
    const bytes = Buffer.from(typeof key === 'string' ? key : '', 'base64');
    if (bytes.length !== 32)
      throw new MessagingConfigError(`${option}: must be 32 bytes in base64; ${WHERE}`);
    const x = bytes.toString('base64url');
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  });
};

const WHERE = 'the portal shows the public key of the account beside its API keys';

export interface TelnyxSignatureOptions {
  /** The account's public key, base64; two during a rotation. */
  readonly publicKey: string | readonly string[];
  /** How old or early a webhook may be. @default '5m' */
  readonly tolerance?: Duration;
}

const read = group({
  publicKey: publicKeys,
  tolerance: withDefault(duration(1), '5m'),
} satisfies ReadersOf<TelnyxSignatureOptions>);

/**
 * Verifies `telnyx-signature-ed25519`: Ed25519 over `telnyx-timestamp` (seconds), a bar and the body. A
 * GET always fails.
 * @example
 * telnyxSignature({ publicKey: process.env.TELNYX_PUBLIC_KEY })
 * @see https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks
 * @throws MessagingConfigError naming the wrong option
 */
export function telnyxSignature(options: TelnyxSignatureOptions): CallbackVerifier {
  const { publicKey, tolerance } = read('telnyxSignature', options);
  return {
    verify: (request) => {
      const { method, headers, receivedAt } = request;
      const given = headers['telnyx-signature-ed25519'];
      const at = headers['telnyx-timestamp'];
      if (method === 'GET' || typeof given !== 'string' || typeof at !== 'string') return false;
      if (!/^\d{1,12}$/.test(at) || Math.abs(receivedAt - Number(at) * 1_000) > tolerance)
        return false;
      const signed = Buffer.concat([Buffer.from(`${at}|`), rawBodyOf(request)]);
      const signature = Buffer.from(given, 'base64');
      return publicKey.some((key) => verify(null, signed, key, signature));
    },
  };
}
