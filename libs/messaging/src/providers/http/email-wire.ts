import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { EmailContent, Mailbox } from '../../message/email-content.js';
import { variablesIn } from '../../message/variables.js';
import { PermanentFailure } from '../../message/errors.js';
import { identifier, own } from '../../message/report-fields.js';
import type {
  SentSubmission,
  Submission,
  SubmissionAccepted,
} from '../../ports/message-transport.js';
import { fetchLists, type FetchedReports, type Get, PAGE, type Wire } from './wires.js';

const MESSAGES = '/email/ng/v1/messages';

/** Email on the interface: `messages` and the events of a send. */
export class EmailWire implements Wire {
  readonly credential = 'apiKey';
  readonly path = MESSAGES;
  readonly idField = 'reference_id';

  constructor(private readonly channels: Pick<ChannelRegistry, 'isReported' | 'isEvent'>) {}

  /** Tags and metadata stay here: no report needs them. */
  bodyOf(submission: Submission): Record<string, unknown> {
    if (submission.content.kind !== 'email')
      throw new PermanentFailure('unsupported_content', 'An email carries an email only');
    const content = submission.content as EmailContent;
    const { from, replyTo, subject, text, html, headers, category, unsubscribeUrl } = content;
    return {
      from,
      ...addresseesOf(content, submission),
      reply_to: replyTo,
      subject,
      text,
      html,
      attachments: submission.attachments?.map((attachment) => ({
        filename: attachment.filename,
        content_type: attachment.contentType,
        content: attachment.content.toString('base64'),
        content_id: attachment.contentId,
      })),
      headers,
      category,
      unsubscribe_url: unsubscribeUrl,
    };
  }

  /** The service's ids of the messages, where the answer has all of them. */
  detailsOf(_id: string, answer: unknown, { recipients }: Submission): Partial<SubmissionAccepted> {
    const messages = own(answer, 'messages');
    if (!Array.isArray(messages)) return {};
    const ids = new Map(
      (messages as unknown[]).map((one) => [own(one, 'to'), identifier(own(one, 'message_id'))]),
    );
    const messageIds = recipients.flatMap((recipient) => ids.get(recipient) ?? []);
    return messageIds.length === recipients.length ? { messageIds } : {};
  }

  /** Reads the events of each send. */
  fetch(submissions: readonly SentSubmission[], get: Get): Promise<FetchedReports> {
    return fetchLists(
      submissions,
      get,
      this.channels,
      (reference) => `${MESSAGES}/${reference}/events?limit=${PAGE}`,
      (event) => ({ ...(event as object), status: own(event, 'event') }),
    );
  }
}

/**
 * Recipients who see each other stay together; the others get copies of their own. A recipient that
 * is not of this submission is not named, because the service would send to it.
 */
function addresseesOf(
  { to = [], cc = [], subject, text, html }: EmailContent,
  { recipients, personal }: Submission,
): Record<string, unknown> {
  if (to.length === 0)
    return {
      recipients: recipients.map((email, index) => ({ email, ...personal?.[index] })),
    };
  const own = new Set(recipients);
  const isOwn = ({ email }: Mailbox): boolean => own.has(email);
  const shown = [to.filter(isOwn), cc.filter(isOwn)];
  const [first = [], ...others] = shown.filter((list) => list.length > 0);
  for (const { email } of shown.flat()) own.delete(email);
  const hidden = [...own];
  if (first.length > 0) return { to: first, cc: others.flat(), bcc: hidden };
  if (hidden.length === 1) return { to: hidden };
  if (variablesIn([subject, text, html]).size > 0)
    throw new PermanentFailure(
      'unsupported_content',
      'Hidden recipients alone cannot get a text with {{braces}} through this service',
    );
  return { recipients: hidden };
}
