import type { Attachment } from '../../message/content/email-content.js';
import { identifier, own } from '../../message/report-fields.js';
import type { Submission, TransportFactory } from '../../ports/message-transport.js';
import { group, type ReadersOf } from '../../ports/option-schema.js';
import { MAIL_OPTIONS, type MailOptions, mailboxText, mailOf } from '../email/mail-parts.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  HttpRequestProvider,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import { credential } from '../provider-options.js';
import { SUBMISSION_TAG } from './resend.js';

/** Options of {@link resend}. */
export interface ResendOptions extends MailOptions, ServiceOptions {
  readonly apiKey: string;
}

const RESEND = {
  apiKey: credential('the API key of the account'),
  ...MAIL_OPTIONS,
  ...serviceOptions({ name: 'resend', baseUrl: 'https://api.resend.com' }),
} satisfies ReadersOf<ResendOptions>;

const read = group(RESEND);

/** Most recipients of an email, which `to` alone may have. */
const MOST = 50;
/** Most octets of an email, after base64. */
const MAX_SIZE = 40 * 1_024 * 1_024;
/** Milliseconds for which Resend honours a key. */
const KEY_LASTS = 86_400_000;

/** @see https://resend.com/docs/api-reference/errors */
const errors = new ProviderErrors(
  'Resend',
  'apiKey',
  {
    unauthorized: ['missing_api_key', 'invalid_api_key', 'restricted_api_key'],
    payment_required: ['daily_quota_exceeded', 'monthly_quota_exceeded'],
    throttled: ['rate_limit_exceeded'],
    uncertain: [
      'application_error',
      'internal_server_error',
      'concurrent_idempotent_requests',
      // An earlier try under the key was taken in another form.
      'invalid_idempotent_request',
    ],
    sender_unknown: ['domain_not_verified'],
  },
  true,
);

/**
 * Sends email through Resend. The id of a submission is its idempotency key, which Resend honours for 24
 * hours. Recipients who see each other (`to`, `cc`) are one request of at most 50; each other one gets a
 * request of its own.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://resend.com/docs/api-reference/emails/send-email
 * @example
 * providers: { mail: resend({ apiKey: process.env.RESEND_API_KEY! }) },
 * callbackPath: 'dlr',
 * callbacks: {
 *   providers: { mail: { parser: resendParser(), verifier: resendSignature(process.env.RESEND_WEBHOOK_SECRET!) } },
 * },
 */
export function resend(options: ResendOptions): TransportFactory {
  const settings = read('resend', options);
  const capabilities = { channels: ['email'], maxShared: MOST, idempotencyWindow: KEY_LASTS };
  return (context) => new ResendTransport(settings, context, capabilities);
}

class ResendTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  protected credential() {
    return { authorization: `Bearer ${this.settings.apiKey}` };
  }

  /** @see https://resend.com/docs/api-reference/errors */
  protected accountRequest(): AccountRequest {
    return {
      method: 'GET',
      path: '/domains',
      // A key that may send and nothing else.
      isKnown: (answer) => codeOf(answer) === 'restricted_api_key',
    };
  }

  protected requestOf(submission: Submission) {
    const { unsubscribeUrl } = this.settings;
    const mail = mailOf(submission, { by: 'Resend', maxSize: MAX_SIZE, unsubscribeUrl });
    const { from, to, cc, bcc, replyTo, subject, text, html, headers, attachments } = mail;
    const listed = (name: string, mailboxes: typeof to) =>
      mailboxes.length > 0 && { [name]: mailboxes.map(mailboxText) };
    const body = {
      from: mailboxText(from),
      ...listed('to', to),
      ...listed('cc', cc),
      ...listed('bcc', bcc),
      ...listed('reply_to', replyTo),
      subject,
      html,
      // Resend would derive one of its own.
      text: text ?? '',
      headers,
      ...(attachments.length > 0 && { attachments: attachments.map(fileOf) }),
      tags: [{ name: SUBMISSION_TAG, value: submission.id }],
    };
    return { path: '/emails', headers: { 'idempotency-key': submission.id }, body };
  }

  protected outcomeOf({ body }: ClientAnswer, { recipients }: Submission) {
    const accepted = errors.accepted(identifier(own(body, 'id')), 'the id of an email');
    // The id of an email to several is no id of one message.
    return recipients.length === 1 ? accepted : { reference: accepted.reference };
  }

  protected failureOf(answer: ClientAnswer) {
    return errors.failureOf(answer, codeOf(answer), this.context.clock.now());
  }
}

function fileOf({ filename, contentType, contentId, content }: Attachment) {
  return {
    filename,
    content: content.toString('base64'),
    content_type: contentType,
    content_id: contentId,
  };
}

/** One name has several meanings, which status and message tell apart. */
function codeOf({ status, body }: ClientAnswer): string | undefined {
  const name = own(body, 'name');
  const isOwn = typeof name === 'string' && /^[a-z_]{1,64}$/.test(name);
  if (!isOwn || own(body, 'statusCode') !== status) return undefined;
  if (name !== 'validation_error') return name;
  const message = own(body, 'message');
  if (status === 401 || (typeof message === 'string' && message.startsWith('API key is invalid')))
    return 'invalid_api_key';
  return status === 403 ? 'domain_not_verified' : name;
}
