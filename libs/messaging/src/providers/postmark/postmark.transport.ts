import type { EmailContent } from '../../message/content/email-content.js';
import { identifier, own } from '../../message/report-fields.js';
import type {
  Submission,
  SubmissionAccepted,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, type ReadersOf, textLike, withDefault } from '../../ports/option-schema.js';
import { MAIL_OPTIONS, type MailOptions, mailboxText, mailOf } from '../email/mail-parts.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  HttpRequestProvider,
  isSuccess,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import { credential } from '../provider-options.js';
import { SUBMISSION_FIELD } from './postmark.js';

const stream = textLike(/^[a-z0-9-]{1,30}$/i, 'the id of a message stream, such as outbound');

/** Options of {@link postmark}. */
export interface PostmarkOptions extends MailOptions, ServiceOptions {
  /** API token of the server. */
  readonly serverToken: string;
  /** Stream of transactional messages. @default 'outbound' */
  readonly messageStream?: string;
  /** Stream of marketing messages. @default 'broadcast' */
  readonly marketingStream?: string;
}

const POSTMARK = {
  serverToken: credential('the API token of the server'),
  messageStream: withDefault(stream, 'outbound'),
  marketingStream: withDefault(stream, 'broadcast'),
  ...MAIL_OPTIONS,
  ...serviceOptions({ name: 'postmark', baseUrl: 'https://api.postmarkapp.com' }),
} satisfies ReadersOf<PostmarkOptions>;

const read = group(POSTMARK);

/** Most recipients of an email: `To`, `Cc` and `Bcc` together. */
const MOST = 50;
/** Most octets of a request. */
const MAX_SIZE = 10_000_000;

/** @see https://postmarkapp.com/developer/api/overview#error-codes */
const errors = new ProviderErrors('Postmark', 'serverToken', {
  unauthorized: [10],
  account_restricted: [412, 413],
  payment_required: [405],
  throttled: [429],
  retryable: [100],
  sender_unknown: [400, 401],
  refused: [300, 402, 403, 406, 409, 411],
});

/**
 * Sends email through Postmark. It has no idempotency keys: a message with a lost answer is `unknown` until
 * its first report, whose metadata names the submission, and is never sent again. Recipients who see each
 * other (`to`, `cc`) are one request of at most 50; each other one gets a request of its own.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://postmarkapp.com/developer/api/email-api
 * @example
 * providers: { mail: postmark({ serverToken: process.env.POSTMARK_TOKEN! }) },
 * callbackPath: 'dlr',
 * callbacks: {
 *   providers: { mail: { parser: postmarkParser(), verifier: basicAuth({ username, password }) } },
 * },
 */
export function postmark(options: PostmarkOptions): TransportFactory {
  const settings = read('postmark', options);
  const capabilities = { channels: ['email'], maxShared: MOST };
  return (context) => new PostmarkTransport(settings, context, capabilities);
}

class PostmarkTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  protected credential() {
    return { 'x-postmark-server-token': this.settings.serverToken };
  }

  /** @see https://postmarkapp.com/developer/api/server-api */
  protected accountRequest(): AccountRequest {
    return { method: 'GET', path: '/server' };
  }

  protected requestOf(submission: Submission) {
    const { unsubscribeUrl, messageStream, marketingStream } = this.settings;
    const mail = mailOf(submission, { by: 'Postmark', maxSize: MAX_SIZE, unsubscribeUrl });
    const { from, to, cc, bcc, replyTo, subject, text, html, headers, attachments } = mail;
    const { category } = submission.content as EmailContent;
    const listed = (name: string, mailboxes: typeof to) =>
      mailboxes.length > 0 && { [name]: mailboxes.map(mailboxText).join(', ') };
    const body = {
      From: mailboxText(from),
      ...listed('To', to),
      ...listed('Cc', cc),
      ...listed('Bcc', bcc),
      ...listed('ReplyTo', replyTo),
      Subject: subject,
      TextBody: text,
      HtmlBody: html,
      Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
      Attachments: attachments.map(({ filename, contentType, contentId, content }) => ({
        Name: filename,
        Content: content.toString('base64'),
        ContentType: contentType,
        ...(contentId !== undefined && { ContentID: `cid:${contentId}` }),
      })),
      Metadata: { [SUBMISSION_FIELD]: submission.id },
      MessageStream: category === 'marketing' ? marketingStream : messageStream,
    };
    return { path: '/email', body };
  }

  protected override isAccepted(answer: ClientAnswer): boolean {
    return isSuccess(answer) && (codeOf(answer.body) ?? '0') === '0';
  }

  protected outcomeOf({ body }: ClientAnswer, { recipients }: Submission): SubmissionAccepted {
    const id = identifier(own(body, 'MessageID'));
    const accepted = errors.accepted(id, 'the MessageID of an email');
    if (recipients.length === 1) return accepted;
    const inactive = inactiveIn(own(body, 'Message'));
    const rejected = new Map(
      recipients.filter((one) => inactive.has(one.toLowerCase())).map((one) => [one, '406']),
    );
    return { reference: accepted.reference, ...(rejected.size > 0 && { rejected }) };
  }

  protected failureOf(answer: ClientAnswer) {
    return errors.failureOf(answer, codeOf(answer.body), this.context.clock.now());
  }
}

function codeOf(body: unknown): string | undefined {
  const code = own(body, 'ErrorCode');
  return Number.isSafeInteger(code) ? String(code) : undefined;
}

/** Addresses that Postmark leaves out of an email: `… these inactive addresses: a@b, c@d. Inactive …`. */
function inactiveIn(message: unknown): ReadonlySet<string> {
  if (typeof message !== 'string') return new Set();
  const [, list = ''] = /inactive addresses: ([^\n]{1,16000})/.exec(message) ?? [];
  const [addresses = ''] = list.split('. Inactive ');
  return new Set(addresses.split(',').map((one) => one.trim().replace(/\.$/, '').toLowerCase()));
}
