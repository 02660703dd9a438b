import type { Attachment } from '../../message/content/email-content.js';
import { UnroutableFailure } from '../../message/errors.js';
import { identifier, own } from '../../message/report-fields.js';
import type { Submission, TransportFactory } from '../../ports/message-transport.js';
import { group, type ReadersOf } from '../../ports/option-schema.js';
import { MAIL_OPTIONS, type MailOptions, mailOf } from '../email/mail-parts.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  HttpRequestProvider,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import { credential } from '../provider-options.js';
import { SUBMISSION_ARGUMENT } from './sendgrid.js';

/** Options of {@link sendgrid}. */
export interface SendGridOptions extends MailOptions, ServiceOptions {
  readonly apiKey: string;
}

const SENDGRID = {
  apiKey: credential('the API key of the account, with the scope mail.send'),
  ...MAIL_OPTIONS,
  ...serviceOptions({ name: 'sendgrid', baseUrl: 'https://api.sendgrid.com' }),
} satisfies ReadersOf<SendGridOptions>;

const read = group(SENDGRID);

/** Most recipients of a request. */
const MOST = 1_000;
/** Most octets of an email with its attachments. */
const MAX_SIZE = 30_000_000;

/** SendGrid's error form has no codes: these are by status, field and message. */
const errors = new ProviderErrors('SendGrid', 'apiKey', {
  unauthorized: ['http_401', 'http_403'],
  payment_required: ['credits_exceeded'],
  sender_unknown: ['unverified_sender'],
});

/**
 * Sends email through SendGrid's v3 Mail Send. It has no idempotency keys: a message with a lost answer is
 * `unknown` until its first event, whose custom argument names the submission, and is never sent again.
 * Recipients who see each other (`to`, `cc`) are one request; each other one gets a request of its own.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
 * @example
 * providers: { mail: sendgrid({ apiKey: process.env.SENDGRID_API_KEY! }) },
 * callbackPath: 'dlr',
 * callbacks: {
 *   providers: { mail: { parser: sendgridParser(), verifier: sendgridSignature(process.env.SENDGRID_PUBLIC_KEY!) } },
 * },
 */
export function sendgrid(options: SendGridOptions): TransportFactory {
  const settings = read('sendgrid', options);
  const capabilities = { channels: ['email'], maxShared: MOST };
  return (context) => new SendGridTransport(settings, context, capabilities);
}

class SendGridTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  protected credential() {
    return { authorization: `Bearer ${this.settings.apiKey}` };
  }

  /** @see https://www.twilio.com/docs/sendgrid/api-reference/api-key-permissions */
  protected accountRequest(): AccountRequest {
    return { method: 'GET', path: '/v3/scopes' };
  }

  protected requestOf(submission: Submission) {
    const { unsubscribeUrl } = this.settings;
    const mail = mailOf(submission, { by: 'SendGrid', maxSize: MAX_SIZE, unsubscribeUrl });
    const { from, to, cc, bcc, replyTo, subject, text, html, headers, attachments } = mail;
    if ([...to, ...cc].some(({ name }) => name !== undefined && /[;,]/.test(name)))
      throw new UnroutableFailure(
        'unsupported_content',
        'SendGrid takes no name of a recipient with a comma or semicolon',
      );
    const content = [
      { type: 'text/plain', value: text },
      { type: 'text/html', value: html },
    ].filter(({ value }) => value);
    const body = {
      personalizations: [{ to, ...(cc.length > 0 && { cc }), ...(bcc.length > 0 && { bcc }) }],
      from,
      ...(replyTo.length > 0 && { reply_to_list: replyTo }),
      subject,
      content,
      ...(attachments.length > 0 && { attachments: attachments.map(fileOf) }),
      headers,
      custom_args: { [SUBMISSION_ARGUMENT]: submission.id },
    };
    return { path: '/v3/mail/send', body };
  }

  /** The answer is empty: its header has the id of the email, and proves that SendGrid gave it. */
  protected outcomeOf({ headers }: ClientAnswer, { id, recipients }: Submission) {
    const given = identifier(headers['x-message-id']);
    const { messageIds } = errors.accepted(given, 'the X-Message-Id of an email');
    // The events repeat our id, not this one.
    return { reference: id, ...(recipients.length === 1 && messageIds && { messageIds }) };
  }

  protected failureOf(answer: ClientAnswer) {
    return errors.failureOf(answer, codeOf(answer), this.context.clock.now());
  }
}

function fileOf({ filename, contentType, contentId, content }: Attachment) {
  return {
    content: content.toString('base64'),
    type: contentType,
    filename,
    ...(contentId === undefined
      ? { disposition: 'attachment' }
      : { disposition: 'inline', content_id: contentId }),
  };
}

/** The field that the first error names, or the status. */
function codeOf({ status, body }: ClientAnswer): string | undefined {
  const list = own(body, 'errors');
  const first = Array.isArray(list) ? (list as unknown[])[0] : undefined;
  const message = own(first, 'message');
  // Each of SendGrid's own errors has a field, which may be null; a proxy's have none.
  const isOwn = typeof message === 'string' && Object.hasOwn(Object(first) as object, 'field');
  if (!isOwn || status >= 500) return undefined;
  if (message.startsWith('Maximum credits exceeded')) return 'credits_exceeded';
  const field = own(first, 'field');
  if (status === 403 && field === 'from') return 'unverified_sender';
  const isNamed = status === 400 && typeof field === 'string' && /^[\w.-]{1,64}$/.test(field);
  return isNamed ? field : `http_${status}`;
}
