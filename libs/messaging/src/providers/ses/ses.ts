import { UnreadableCallbackError } from '../../callbacks/callback-body.js';
import { isObject } from '../../callbacks/callback-fields.js';
import type { DeliveryReport } from '../../message/events.js';
import { moment, own } from '../../message/report-fields.js';
import type { ChannelStatus } from '../../message/status.js';
import type { CallbackParser } from '../../ports/callback-parser.js';
import { type MailRefusal, mailReport, refusalOfTypes } from '../email/mail-events.js';
import { jsonOf, snsMessage } from '../sns/sns-message.js';

/** Name of the tag with our id of the submission, which the events repeat. */
export const SUBMISSION_TAG = 'submission';

/** Of each event: its object, the list of its recipients there, and the status. */
const EVENTS: Readonly<
  Record<string, readonly [field: string, recipients: string, status: ChannelStatus]>
> = {
  Send: ['send', '', 'sent'],
  Delivery: ['delivery', 'recipients', 'delivered'],
  DeliveryDelay: ['deliveryDelay', 'delayedRecipients', 'delayed'],
  Bounce: ['bounce', 'bouncedRecipients', 'bounced'],
  Complaint: ['complaint', 'complainedRecipients', 'complained'],
  Reject: ['reject', '', 'rejected'],
  'Rendering Failure': ['failure', '', 'failed'],
};

/** Events that say nothing of the delivery. */
const OTHERS = ['Open', 'Click', 'Subscription'];

/** The account's, or SES's own, list of addresses: the email never left. */
const SUPPRESSED = ['Suppressed', 'OnAccountSuppressionList'];

/**
 * Parser of the events of Amazon SES that SNS brings: one email, with one recipient, each. Opens and clicks
 * are skipped, and so are the other messages of SNS.
 * @see https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
 */
export function sesParser(): CallbackParser {
  return {
    parse: (request) => {
      const message = snsMessage(request);
      if (!message) throw new UnreadableCallbackError('no message of SNS');
      const event = own(message, 'Type') === 'Notification' && jsonOf(own(message, 'Message'));
      const report = isObject(event) ? reportOf(event) : undefined;
      if (typeof report === 'string') return { errors: [report] };
      return { reports: report ? [report] : [], errors: [] };
    },
  };
}

function reportOf(event: object): DeliveryReport | string | undefined {
  const type = own(event, 'eventType') ?? own(event, 'notificationType');
  if (typeof type !== 'string' || OTHERS.includes(type)) return undefined;
  const mail = own(event, 'mail');
  const [field = '', list = '', status = null] = Object.hasOwn(EVENTS, type) ? EVENTS[type]! : [];
  const about = own(event, field);
  const [recipient] = listIn(own(about, list));
  const subType = own(about, 'bounceSubType') ?? own(about, 'complaintSubType');
  const isSuppressed = typeof subType === 'string' && SUPPRESSED.includes(subType);
  if (own(about, 'complaintFeedbackType') === 'not-spam') return undefined;
  const refusal = isSuppressed ? undefined : refusalIn(type, about, recipient);
  return mailReport({
    submissionId: listIn(own(own(mail, 'tags'), SUBMISSION_TAG))[0],
    reference: own(mail, 'messageId'),
    recipient: isObject(recipient) ? own(recipient, 'emailAddress') : recipient,
    status: isSuppressed ? 'rejected' : status,
    rawStatus: type,
    reason: isSuppressed ? subType : own(about, 'reason'),
    time: moment(own(about, 'timestamp')) ?? moment(own(mail, 'timestamp')),
    ...(refusal && { refusal }),
  });
}

function refusalIn(type: string, about: unknown, recipient: unknown): MailRefusal | undefined {
  if (type !== 'Bounce' && type !== 'DeliveryDelay') return undefined;
  return {
    answer: own(recipient, 'diagnosticCode'),
    status: own(recipient, 'status'),
    remoteMta: own(about, 'reportingMTA'),
    ...refusalOfTypes(own(about, 'bounceType'), own(about, 'bounceSubType')),
  };
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
