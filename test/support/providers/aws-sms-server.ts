import type { AwsCredentials } from '../../../libs/messaging/src/providers/http-client/aws-signature.js';
import { isSigned } from './aws-requests.js';
import { type ProviderAnswer, ProviderServer } from './provider-server.js';

export interface AwsSmsMessage {
  readonly id: string;
  readonly request: Readonly<Record<string, unknown>>;
}

type Request = Parameters<ProviderServer<AwsSmsMessage>['handle']>[0];

/** `SendTextMessage` of AWS. @see https://docs.aws.amazon.com/pinpoint/latest/apireference_smsvoicev2/ */
export class AwsSmsServer extends ProviderServer<AwsSmsMessage> {
  readonly region = 'eu-west-1';
  credentials: AwsCredentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };

  get options() {
    return { region: this.region, credentials: this.credentials, baseUrl: this.url };
  }

  protected handle(request: Request): ProviderAnswer {
    const { region, credentials } = this;
    if (!isSigned(request, credentials, { region, service: 'sms-voice' }))
      return exception('InvalidSignatureException');
    const { headers, body } = request;
    if (headers['x-amz-target'] === 'PinpointSMSVoiceV2.DescribeAccountAttributes')
      return { status: 200, body: { AccountAttributes: [] } };
    if (headers['x-amz-target'] !== 'PinpointSMSVoiceV2.SendTextMessage')
      return exception('UnknownOperationException');
    const given = JSON.parse(body) as AwsSmsMessage['request'];
    const to = String(given['DestinationPhoneNumber']);
    if (!/^\+\d{8,15}$/.test(to)) return exception('ValidationException', 'INVALID_PARAMETER');
    if (to.startsWith('+99'))
      return exception('ConflictException', 'DESTINATION_PHONE_NUMBER_OPTED_OUT');
    const id = `862a8790-60c0-4430-9b2b-${String(this.taken.length + 1).padStart(12, '0')}`;
    this.taken.push({ id, request: given });
    return { status: 200, body: { MessageId: id } };
  }
}

/** An event of a message, as it is in the messages of SNS. */
export function eventOf(eventType: string, id: string, to: string, submission?: string) {
  return {
    eventType,
    eventVersion: '1.0',
    eventTimestamp: Date.UTC(2026, 0, 1),
    isFinal: eventType !== 'TEXT_QUEUED',
    originationPhoneNumber: '+2348000000001',
    destinationPhoneNumber: `+${to}`,
    messageId: id,
    messageEncoding: 'GSM',
    messageType: 'TRANSACTIONAL',
    messageStatus: eventType.replace('TEXT_', ''),
    ...(submission !== undefined && { context: { submission } }),
    totalMessageParts: 1,
  };
}

/** A notification of SNS about `content`. */
export function notificationOf(content: object) {
  return {
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: 'arn:aws:sns:eu-west-1:123456789012:sms',
    Message: JSON.stringify(content),
    Timestamp: new Date().toISOString(),
  };
}

/** As AWS's JSON protocol writes it: some names have a namespace. */
export function exception(name: string, Reason?: string): ProviderAnswer {
  const __type = Reason === undefined ? name : `com.amazonaws.pinpointsmsvoicev2#${name}`;
  const status = name === 'InternalServerException' ? 500 : 400;
  return { status, body: { __type, Message: 'What is wrong', ...(Reason && { Reason }) } };
}
