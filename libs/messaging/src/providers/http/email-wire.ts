import type { ChannelRegistry } from '../../message/channel-registry.js';
import { addresseesOf, type EmailContent } from '../../message/content/email-content.js';
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
      ...addresseeFields(content, submission),
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

/** Recipients who see each other stay together; the others get copies of their own. */
function addresseeFields(
  content: EmailContent,
  { recipients, personal }: Submission,
): Record<string, unknown> {
  const { subject, text, html } = content;
  if (!content.to?.length)
    return {
      recipients: recipients.map((email, index) => ({ email, ...personal?.[index] })),
    };
  const { to, cc, bcc } = addresseesOf(content, recipients);
  if (to.length > 0) return { to, cc, bcc };
  if (bcc.length === 1) return { to: bcc };
  if (variablesIn([subject, text, html]).size > 0)
    throw new PermanentFailure(
      'unsupported_content',
      'Hidden recipients alone cannot get a text with {{braces}} through this service',
    );
  return { recipients: bcc };
}
