import { identifier, own } from '../../message/report-fields.js';
import type { Submission, TransportFactory } from '../../ports/message-transport.js';
import { group, oneOf, optional, type ReadersOf, textLike } from '../../ports/option-schema.js';
import {
  AWS_UNAUTHORIZED,
  AWS_UNCERTAIN,
  awsCredential,
  awsCredentials,
  awsRegion,
  type AwsCredentials,
  type AwsCredentialSource,
} from '../http-client/aws-signature.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  HttpRequestProvider,
  type ProviderRequest,
  serviceOptions,
  type ServiceOptions,
  type ServiceSettings,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import { serviceAddress } from '../provider-options.js';
import { CONTEXT } from './aws-sms.js';

/** Options of {@link awsSms}. */
export interface AwsSmsOptions extends ServiceOptions {
  /** Address of the service. @default that of the region */
  readonly baseUrl?: string;
  readonly region: string;
  /** `{ accessKeyId, secretAccessKey, sessionToken }`, or a function that gives those of the moment. */
  readonly credentials: AwsCredentials | AwsCredentialSource;
  /** A pool, which sends from its own numbers and names. @default the sender of the message */
  readonly poolId?: string;
  /** With the event destination of the reports. @default the account's */
  readonly configurationSet?: string;
  /** @default that of the number, or of the configuration set */
  readonly messageType?: 'TRANSACTIONAL' | 'PROMOTIONAL';
}

const AWS_SMS = {
  ...serviceOptions({ name: 'aws-sms', baseUrl: '' }),
  baseUrl: optional(serviceAddress),
  region: awsRegion,
  credentials: awsCredentials,
  poolId: optional(textLike(/^[\w:/-]{1,256}$/, 'the id or the ARN of a pool')),
  configurationSet: optional(textLike(/^[\w:/-]{1,256}$/, 'the name of a configuration set')),
  messageType: optional(oneOf('TRANSACTIONAL', 'PROMOTIONAL')),
} satisfies ReadersOf<AwsSmsOptions>;

const read = group(AWS_SMS);

/** By the reason of an exception, or its name. */
const errors = new ProviderErrors('AWS', 'credentials and region', {
  unauthorized: [...AWS_UNAUTHORIZED],
  account_restricted: [
    'AccessDeniedException',
    'ACCOUNT_DISABLED',
    'INSUFFICIENT_ACCOUNT_REPUTATION',
    'ServiceQuotaExceededException',
    'MONTHLY_SPEND_LIMIT_REACHED_FOR_TEXT',
  ],
  throttled: ['ThrottlingException'],
  uncertain: ['InternalServerException', ...AWS_UNCERTAIN],
  sender_unknown: [
    'ResourceNotFoundException',
    'INVALID_IDENTITY_FOR_DESTINATION_COUNTRY',
    'MESSAGE_TYPE_MISMATCH',
    'NO_ORIGINATION_IDENTITIES_FOUND',
    'NUMBER_CAPABILITIES_MISMATCH',
    'REGISTRATION_NOT_COMPLETE',
    'RESOURCE_NOT_ACCESSIBLE',
    'RESOURCE_NOT_ACTIVE',
    'SENDER_ID_NOT_REGISTERED',
    'SENDER_ID_NOT_SUPPORTED',
    'SENDER_ID_REQUIRES_REGISTRATION',
  ],
  not_routable: [
    'COUNTRY_NOT_ENABLED',
    'DESTINATION_COUNTRY_BLOCKED',
    'DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION',
    'DESTINATION_PHONE_NUMBER_NOT_VERIFIED',
    'INTERNATIONAL_SENDING_NOT_SUPPORTED',
  ],
});

/**
 * Sends SMS through AWS End User Messaging (`SendTextMessage`), one recipient in a request. It has no
 * idempotency keys: a message with a lost answer is `unknown` until an event whose context names the
 * submission, and is never sent again. AWS cannot be asked for the status of a message.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://docs.aws.amazon.com/pinpoint/latest/apireference_smsvoicev2/API_SendTextMessage.html
 * @example
 * providers: { aws: awsSms({ region: 'eu-west-1', credentials: fromNodeProviderChain(), configurationSet: 'sms' }) },
 * callbackPath: 'dlr',
 * callbacks: { providers: { aws: { parser: awsSmsParser(), verifier: snsSignature({ topicArn }) } } },
 */
export function awsSms(options: AwsSmsOptions): TransportFactory {
  const given = read('awsSms', options);
  const { region, baseUrl = `https://sms-voice.${region}.amazonaws.com` } = given;
  const settings = { ...given, baseUrl };
  return (context) => new AwsSmsTransport(settings, context, { channels: ['sms'] });
}

class AwsSmsTransport extends HttpRequestProvider<ReturnType<typeof read> & ServiceSettings> {
  protected credential(signal: AbortSignal, request: ProviderRequest) {
    const at = this.context.clock.now();
    return awsCredential(this.settings, request, { service: 'sms-voice', at, signal });
  }

  /** @see https://docs.aws.amazon.com/pinpoint/latest/apireference_smsvoicev2/API_DescribeAccountAttributes.html */
  protected accountRequest(): AccountRequest {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'PinpointSMSVoiceV2.DescribeAccountAttributes',
    };
    // A user with the right to send alone is known, too.
    const isKnown = ({ body }: ClientAnswer) =>
      /(?:^|#)AccessDeniedException$/.test(String(own(body, '__type')));
    return { path: '/', headers, body: '{}', isKnown };
  }

  protected requestOf(submission: Submission) {
    const { id, sender, recipients } = submission;
    const { poolId, configurationSet, messageType } = this.settings;
    const identity = poolId ?? (/^\d{9,}$/.test(sender) ? `+${sender}` : sender);
    const body = {
      DestinationPhoneNumber: `+${this.numberOf(recipients[0])}`,
      ...(identity !== '' && { OriginationIdentity: identity }),
      MessageBody: this.textOf(submission),
      ...(messageType !== undefined && { MessageType: messageType }),
      ...(configurationSet !== undefined && { ConfigurationSetName: configurationSet }),
      Context: { [CONTEXT]: id },
    };
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'PinpointSMSVoiceV2.SendTextMessage',
    };
    return { path: '/', headers, body: JSON.stringify(body) };
  }

  protected outcomeOf({ body }: ClientAnswer) {
    return errors.accepted(identifier(own(body, 'MessageId')), 'the MessageId of a message');
  }

  /** Only a body with the `__type` of an exception is proof of a refusal. */
  protected failureOf(answer: ClientAnswer) {
    const { body } = answer;
    const type = own(body, '__type');
    const [, name] = (typeof type === 'string' && /^(?:[\w.]+#)?([A-Z]\w{2,63})$/.exec(type)) || [];
    const given = own(body, 'Reason');
    const reason = typeof given === 'string' && /^[A-Z_]{2,64}$/.test(given) ? given : undefined;
    const isReason = reason !== undefined && errors.meaningOf(reason) !== undefined;
    const isName = name !== undefined && errors.meaningOf(name) !== undefined;
    const code = name === undefined || (isName && !isReason) ? name : (reason ?? name);
    return errors.failureOf(answer, code, this.context.clock.now());
  }
}
