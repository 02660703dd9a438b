import { callbackParser, type ReportMap } from '../../callbacks/callback-map.js';
import { mediaOf } from '../../callbacks/inbound-contents.js';
import {
  isOfTheLastDays,
  isSignedBy,
  rawBodyOf,
  readSecrets,
  type Secrets,
} from '../../callbacks/verifiers.js';
import type { InboundContent } from '../../message/content/inbound-content.js';
import { own } from '../../message/report-fields.js';
import type { CallbackParser, CallbackVerifier } from '../../ports/callback-parser.js';

/** Fields of a report about one recipient, in callbacks and in lists of reports. */
export const SINCH_REPORTS: ReportMap = {
  submissionId: 'client_reference',
  reference: 'batch_id',
  messageId: 'batch_id',
  recipient: 'recipient',
  status: 'status',
  statuses: {
    // `unknown`: the network has the message, and nothing more is ever known.
    sent: ['queued', 'dispatched', 'unknown'],
    delivered: 'delivered',
    expired: 'expired',
    undelivered: ['failed', 'deleted'],
    rejected: 'rejected',
    failed: ['aborted', 'cancelled'],
  },
  errorCode: 'code',
  // Queued and dispatched.
  noError: ['400', '401'],
  time: ['operator_status_at', 'at'],
};

/**
 * Parser of the callbacks of Sinch's SMS API: reports of one recipient each, whose `client_reference`
 * is the submission, as {@link sinch} sends it, and messages to its numbers, SMS or MMS. Reports of
 * whole batches and binary messages are skipped.
 * @see https://developers.sinch.com/docs/sms/api-reference/sms/tag/Webhooks/
 */
export function sinchParser(): CallbackParser {
  return callbackParser({
    reports: {
      except: (entry) => !/^recipient_delivery_report_[sm]ms$/.test(typeOf(entry)),
      ...SINCH_REPORTS,
    },
    messages: {
      except: (entry) => !/^mo_(text|media)$/.test(typeOf(entry)),
      messageId: 'id',
      from: 'from',
      to: 'to',
      text: ['body', 'body.message'],
      content: contentIn,
      channel: 'sms',
      time: 'received_at',
    },
  });
}

/** `undefined`: a text. A file that Sinch could not take has no address. */
function contentIn(entry: object): InboundContent | undefined {
  const body = own(entry, 'body');
  const media = own(body, 'media');
  const files = (Array.isArray(media) ? media : []).map((file: unknown) => ({
    contentType: own(file, 'content_type'),
    source: own(file, 'url'),
  }));
  return mediaOf(files, own(body, 'message'));
}

function typeOf(entry: object): string {
  const type = own(entry, 'type');
  return typeof type === 'string' ? type : '';
}

/**
 * Verifies `x-sinch-webhook-signature`, where Sinch has set a secret for the callbacks of the service
 * plan: base64 HMAC-SHA256 over the body, a nonce and a time, with dots between them. A GET always
 * fails. The time is of the last three days: Sinch repeats a callback for a day.
 * @param secret at least 16 characters; two during a rotation
 * @throws MessagingConfigError where the secret is missing or too short
 */
export function sinchSignature(secret: Secrets): CallbackVerifier {
  const secrets = readSecrets('sinchSignature', secret);
  return {
    verify: (request) => {
      const { method, headers, receivedAt } = request;
      const given = headers['x-sinch-webhook-signature'];
      const nonce = headers['x-sinch-webhook-signature-nonce'];
      const at = headers['x-sinch-webhook-signature-timestamp'];
      if (method === 'GET' || typeof given !== 'string') return false;
      if (typeof nonce !== 'string' || typeof at !== 'string') return false;
      if (!isOfTheLastDays(at, receivedAt)) return false;
      const signed = Buffer.concat([rawBodyOf(request), Buffer.from(`.${nonce}.${at}`)]);
      return isSignedBy(secrets, 'sha256', signed, [Buffer.from(given, 'base64')]);
    },
  };
}
