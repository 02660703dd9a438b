import { readEntries } from '../../callbacks/callback-fields.js';
import type { Secrets } from '../../callbacks/verifiers.js';
import { moment, own } from '../../message/report-fields.js';
import type { ChannelStatus } from '../../message/status.js';
import type { CallbackParser, CallbackVerifier } from '../../ports/callback-parser.js';
import { type MailRefusal, mailReport, refusalOfTypes } from '../email/mail-events.js';
import { standardWebhooks } from '../http/interface-callbacks.js';

/** Name of the tag with our id of the submission, which the events repeat. */
export const SUBMISSION_TAG = 'submission';

const STATUSES: Readonly<Record<string, ChannelStatus>> = {
  'email.sent': 'sent',
  'email.delivered': 'delivered',
  'email.delivery_delayed': 'delayed',
  'email.bounced': 'bounced',
  'email.complained': 'complained',
  'email.failed': 'failed',
  'email.suppressed': 'rejected',
};

/** Begins as the answer of an SMTP server does. */
const ANSWER = /^[45]\d\d[ -]/;

/** Events that say nothing of the delivery. */
const OTHERS = /^(?!email\.)|^email\.(scheduled|opened|clicked|received)$/;

/**
 * Parser of Resend's webhooks: one event of one email each. An event does not tell which recipient it is
 * about, so that those of an email to several change no status. Opens, clicks and inbound mail are
 * skipped.
 * @see https://resend.com/docs/webhooks/event-types
 */
export function resendParser(): CallbackParser {
  return {
    parse: (request) =>
      readEntries(request, (entry) => {
        const type = own(entry, 'type');
        if (typeof type !== 'string' || OTHERS.test(type)) return undefined;
        const data = own(entry, 'data');
        const status = Object.hasOwn(STATUSES, type) ? STATUSES[type]! : null;
        const refusal = refusalIn(own(data, 'bounce'));
        return mailReport({
          submissionId: own(own(data, 'tags'), SUBMISSION_TAG),
          reference: own(data, 'email_id'),
          status,
          rawStatus: type,
          reason: own(own(data, 'failed'), 'reason') ?? own(own(data, 'suppressed'), 'type'),
          time: moment(own(entry, 'created_at')),
          ...(refusal && { refusal }),
        });
      }),
  };
}

function refusalIn(bounce: unknown): MailRefusal | undefined {
  if (bounce === undefined) return undefined;
  const codes = own(bounce, 'diagnosticCode');
  const message = own(bounce, 'message');
  return {
    // Without the answer of the recipient's server the words of Resend may begin with it.
    answer: Array.isArray(codes) ? (codes as unknown[])[0] : answerIn(message),
    ...refusalOfTypes(own(bounce, 'type'), own(bounce, 'subType')),
  };
}

function answerIn(message: unknown): unknown {
  return typeof message === 'string' && ANSWER.test(message) ? message : undefined;
}

/**
 * Verifies the signatures of Resend's webhooks (Svix): HMAC-SHA256 over id, time and raw body, at most
 * five minutes old or early.
 * @param secret signing secret of the webhook, `whsec_…`; two during a rotation
 * @throws MessagingConfigError naming the secret, never its value
 * @see https://resend.com/docs/webhooks/verify-webhooks-requests
 */
export function resendSignature(secret: Secrets): CallbackVerifier {
  return standardWebhooks([secret].flat(), 'resendSignature', 'svix');
}
