import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readEntries, timeOf } from '../../callbacks/callback-fields.js';
import { isOfTheLastDays, rawBodyOf } from '../../callbacks/verifiers.js';
import { MessagingConfigError } from '../../message/errors.js';
import { own } from '../../message/report-fields.js';
import type { ChannelStatus } from '../../message/status.js';
import type { CallbackParser, CallbackVerifier } from '../../ports/callback-parser.js';
import { type MailRefusal, mailReport } from '../email/mail-events.js';
import type { BounceCategory } from '../smtp/bounce.js';

/** Name of the custom argument with our id of the submission, which the events repeat. */
export const SUBMISSION_ARGUMENT = 'submission';

const STATUSES: Readonly<Record<string, ChannelStatus>> = {
  processed: 'sent',
  deferred: 'delayed',
  delivered: 'delivered',
  bounce: 'bounced',
  dropped: 'rejected',
  spamreport: 'complained',
  unsubscribe: 'unsubscribed',
  group_unsubscribe: 'unsubscribed',
};

/** Events that say nothing of the delivery. */
const OTHERS = ['open', 'click', 'group_resubscribe', 'account_status_change'];

/** By the classification of a bounce, where the answer of the server says less. */
const CATEGORIES: Readonly<Record<string, BounceCategory>> = {
  'Invalid Address': 'recipient',
  Content: 'content',
  Reputation: 'block',
  'Frequency or Volume Too High': 'block',
};

/**
 * Parser of SendGrid's Event Webhook: lists of events of one recipient each. Events of emails that
 * `sendgrid()` did not send are skipped, and so are opens and clicks.
 * @see https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event
 */
export function sendgridParser(): CallbackParser {
  return {
    parse: (request) =>
      readEntries(request, (entry) => {
        const event = own(entry, 'event');
        const submission = own(entry, SUBMISSION_ARGUMENT);
        if (typeof event !== 'string' || OTHERS.includes(event) || submission === undefined)
          return undefined;
        const refusal = refusalIn(entry, event);
        return mailReport({
          submissionId: submission,
          // As the answer to the request, which has the same id of the submission.
          reference: submission,
          recipient: own(entry, 'email'),
          status: Object.hasOwn(STATUSES, event) ? STATUSES[event]! : null,
          rawStatus: event,
          // A drop has a word of SendGrid's; a bounce the answer of a server.
          ...(event === 'dropped' && { reason: own(entry, 'reason') }),
          time: timeOf(own(entry, 'timestamp'), 'epoch-seconds'),
          ...(refusal && { refusal }),
        });
      }),
  };
}

function refusalIn(entry: object, event: string): MailRefusal | undefined {
  if (event === 'deferred')
    return { answer: own(entry, 'response'), category: 'other', isSoft: true };
  if (event !== 'bounce') return undefined;
  const kind = own(entry, 'bounce_classification');
  const isKnown = typeof kind === 'string' && Object.hasOwn(CATEGORIES, kind);
  return {
    answer: own(entry, 'reason'),
    status: own(entry, 'status'),
    category: isKnown ? CATEGORIES[kind]! : 'other',
    isSoft: own(entry, 'type') === 'blocked',
  };
}

/**
 * Verifies the Signed Event Webhook of SendGrid: ECDSA over a time and the raw body. The time is that of
 * the request, of the last three days: SendGrid repeats events for a day.
 * @param publicKey verification key of the webhook, as SendGrid shows it; two during a rotation
 * @throws MessagingConfigError naming the key
 * @see https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features
 */
export function sendgridSignature(publicKey: string | readonly string[]): CallbackVerifier {
  const keys = [publicKey].flat().map((key, index) => keyOf(key, `sendgridSignature[${index}]`));
  return {
    verify: (request) => {
      const { method, headers, receivedAt } = request;
      const signature = headers['x-twilio-email-event-webhook-signature'];
      const timestamp = headers['x-twilio-email-event-webhook-timestamp'];
      if (method === 'GET' || typeof signature !== 'string' || typeof timestamp !== 'string')
        return false;
      if (!isOfTheLastDays(timestamp, receivedAt)) return false;
      const signed = Buffer.concat([Buffer.from(timestamp), rawBodyOf(request)]);
      const given = Buffer.from(signature, 'base64');
      return keys.some((key) => verify('sha256', signed, key, given));
    },
  };
}

function keyOf(given: unknown, option: string): KeyObject {
  try {
    const der = Buffer.from(String(given), 'base64');
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    if (key.asymmetricKeyType === 'ec') return key;
  } catch {
    // The error below says what is needed.
  }
  throw new MessagingConfigError(
    `${option}: must be the verification key of the Signed Event Webhook, in base64`,
  );
}
