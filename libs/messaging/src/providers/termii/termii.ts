import { callbackParser } from '../../callbacks/callback-map.js';
import { hmacSignature, readSecrets, type Secrets } from '../../callbacks/verifiers.js';
import type { CallbackParser, CallbackVerifier } from '../../ports/callback-parser.js';

/**
 * Parser of Termii's events: JSON, signed with HMAC-SHA512 in `X-Termii-Signature`. Text may follow
 * the status after a bar (`DELIVERED | Message delivered to handset`). The channel of an inbound
 * message is a route, or WhatsApp.
 * @see https://developer.termii.com/events-and-reports
 * @see https://developer.termii.com/incoming
 */
export function termiiParser(): CallbackParser {
  return callbackParser({
    reports: {
      only: { type: 'outbound' },
      messageId: 'message_id',
      recipient: 'receiver',
      status: 'status',
      statusEnd: '|',
      statuses: {
        sent: 'message sent',
        delivered: 'delivered',
        failed: 'message failed',
        rejected: 'dnd active on phone number',
      },
    },
    messages: {
      only: { type: 'inbound' },
      messageId: 'message_id',
      from: 'sender',
      to: 'receiver',
      text: 'message',
      channel: 'sms',
      channelWord: 'channel',
      channels: { sms: ['generic', 'dnd', 'number api'], whatsapp: 'whatsapp' },
      time: 'received_at',
    },
  });
}

/**
 * Verifies `X-Termii-Signature`: the HMAC-SHA512 of the body with the secret key of the account, in hex.
 * @param secret the key; during a rotation, the new and the old one
 * @throws MessagingConfigError where there is none, or one is too short
 */
export function termiiSignature(secret: Secrets): CallbackVerifier {
  const keys = readSecrets('termiiSignature', secret);
  return hmacSignature({ header: 'X-Termii-Signature', algorithm: 'sha512', secret: keys });
}
