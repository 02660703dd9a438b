import { identifier, own } from '../../message/report-fields.js';
import type { Submission, TransportFactory } from '../../ports/message-transport.js';
import { group, optional, type ReadersOf, textLike } from '../../ports/option-schema.js';
import { MAIL_OPTIONS, type MailOptions, wireAddress } from '../email/mail-parts.js';
import {
  AWS_UNAUTHORIZED,
  AWS_UNCERTAIN,
  type AwsCredentials,
  awsCredential,
  awsCredentials,
  awsRegion,
  type AwsCredentialSource,
} from '../http-client/aws-signature.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  HttpRequestProvider,
  type ProviderRequest,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import { serviceAddress } from '../provider-options.js';
import { EmailComposer, linesOf } from '../smtp/email-template.js';
import { SUBMISSION_TAG } from './ses.js';

export type { AwsCredentials };

/** Options of {@link ses}. */
export interface SesOptions extends MailOptions, ServiceOptions {
  /** Region, such as `eu-west-1`. */
  readonly region: string;
  /** Of a user with `ses:SendEmail`, or a function asked before each request, for temporary ones. */
  readonly credentials: AwsCredentials | AwsCredentialSource;
  /** Configuration set, which publishes the events. @default that of the identity */
  readonly configurationSet?: string;
  /** Address of the service. @default that of the region */
  readonly baseUrl?: string;
}

const SES = {
  region: awsRegion,
  credentials: awsCredentials,
  configurationSet: optional(textLike(/^[\w-]{1,64}$/, 'the name of a configuration set')),
  ...MAIL_OPTIONS,
  ...serviceOptions({ name: 'ses', baseUrl: 'https://email.us-east-1.amazonaws.com' }),
  baseUrl: optional(serviceAddress),
} satisfies ReadersOf<SesOptions>;

const read = group(SES);

const PATH = '/v2/email/outbound-emails';

/**
 * By the type of the error, as its header names it.
 * @see https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
 * @see https://docs.aws.amazon.com/ses/latest/APIReference-V2/CommonErrors.html
 */
const errors = new ProviderErrors('Amazon SES', 'credentials', {
  unauthorized: ['AccessDeniedException', ...AWS_UNAUTHORIZED],
  // The last one is a configuration set that is missing.
  account_restricted: ['AccountSuspendedException', 'SendingPausedException', 'NotFoundException'],
  throttled: ['LimitExceededException', 'ThrottlingException', 'TooManyRequestsException'],
  uncertain: ['InternalServiceErrorException', ...AWS_UNCERTAIN],
  sender_unknown: ['MailFromDomainNotVerifiedException', 'NotVerified'],
  refused: ['BadRequestException', 'MessageRejected'],
});

/**
 * Sends email through the API v2 of Amazon SES, as the MIME message that `smtp()` sends: each recipient
 * has a request of its own, also where they see each other. It has no idempotency keys: a message with
 * a lost answer is `unknown` until its first event, whose tag names the submission, and is never sent
 * again. Needs `nodemailer`.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
 * @example
 * providers: { mail: ses({ region: 'eu-west-1', credentials: { accessKeyId, secretAccessKey }, configurationSet: 'mail' }) },
 * callbackPath: 'dlr',
 * callbacks: { providers: { mail: { parser: sesParser(), verifier: snsSignature({ topicArn }) } } },
 */
export function ses(options: SesOptions): TransportFactory {
  const given = read('ses', options);
  const { region } = given;
  const end = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const settings = { ...given, baseUrl: given.baseUrl ?? `https://email.${region}.${end}` };
  return (context) => new SesTransport(settings, context, { channels: ['email'] });
}

type SesSettings = ReturnType<typeof read> & { readonly baseUrl: string };

class SesTransport extends HttpRequestProvider<SesSettings> {
  readonly #composer = new EmailComposer(this.settings.unsubscribeUrl);

  protected credential(signal: AbortSignal, request: ProviderRequest) {
    const at = this.context.clock.now();
    return awsCredential(this.settings, request, { service: 'ses', at, signal });
  }

  /** @see https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetAccount.html */
  protected accountRequest(): AccountRequest {
    // A user with the right to send alone is known, too.
    const isKnown = (answer: ClientAnswer) => codeOf(answer) === 'AccessDeniedException';
    return { method: 'GET', path: '/v2/email/account', isKnown };
  }

  protected requestOf(submission: Submission) {
    const { configurationSet } = this.settings;
    const recipient = wireAddress(submission.recipients[0]!);
    const { fields, body: text } = this.#composer.compose(submission, recipient);
    const message = Buffer.concat([Buffer.from(`${linesOf(fields)}\r\n\r\n`), text]);
    const body = {
      Content: { Raw: { Data: message.toString('base64') } },
      Destination: { ToAddresses: [recipient] },
      EmailTags: [{ Name: SUBMISSION_TAG, Value: submission.id }],
      ...(configurationSet !== undefined && { ConfigurationSetName: configurationSet }),
    };
    const headers = { 'content-type': 'application/json' };
    return { path: PATH, headers, body: JSON.stringify(body) };
  }

  protected outcomeOf({ body }: ClientAnswer) {
    return errors.accepted(identifier(own(body, 'MessageId')), 'the MessageId of an email');
  }

  protected failureOf(answer: ClientAnswer) {
    return errors.failureOf(answer, codeOf(answer), this.context.clock.now());
  }
}

/** `MessageRejected` of an address that is not verified says so in words alone. */
function codeOf({ headers, body }: ClientAnswer): string | undefined {
  const [, type] = /^([A-Za-z]{1,64})(?::|$)/.exec(String(headers['x-amzn-errortype'])) ?? [];
  const message = own(body, 'message') ?? own(body, 'Message');
  if (headers['x-amzn-errortype'] === undefined) return undefined;
  const isUnverified =
    typeof message === 'string' && message.startsWith('Email address is not verified');
  return type === 'MessageRejected' && isUnverified ? 'NotVerified' : type;
}
