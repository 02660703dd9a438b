import { MessagingConfigError, sharedSecret } from '@dundun/messaging';
import { awsSms, awsSmsParser } from '@dundun/messaging/aws-sms';
import { snsSignature } from '@dundun/messaging/sns';
import { httpUrl, oneOf, secretText, visible } from '../../settings/parsers.js';
import { AWS_SETTINGS, topicArns } from './aws.js';
import { carrierType } from '../carrier-type.js';

/** SMS through AWS End User Messaging, whose events come by SNS, or by EventBridge without a signature. */
export const AWS_SMS = carrierType(
  {
    ...AWS_SETTINGS,
    topic_arn: { parse: topicArns, optional: true },
    callback_secret: { parse: secretText, secret: 'whole', optional: true },
    configuration_set: { parse: visible, optional: true },
    pool_id: { parse: visible, optional: true },
    message_type: { parse: oneOf('TRANSACTIONAL', 'PROMOTIONAL'), optional: true },
    url: { parse: httpUrl, optional: true },
  },
  {
    channels: ['sms'],
    callsInText: true,
    conflict: ({ topic_arn, callback_secret }) =>
      topic_arn && callback_secret
        ? ['callback_secret', 'is one too many: {topic_arn} proves the callbacks']
        : undefined,
    make: ({ region, topic_arn: topicArn, callback_secret: secret, url, ...settings }) => {
      if (topicArn === undefined && secret === undefined)
        throw new MessagingConfigError(
          'topic_arn: is missing; events by EventBridge have {callback_secret} instead',
        );
      return {
        transport: awsSms({
          region,
          credentials: {
            accessKeyId: settings.access_key_id,
            secretAccessKey: settings.secret_access_key,
          },
          configurationSet: settings.configuration_set,
          poolId: settings.pool_id,
          messageType: settings.message_type,
          baseUrl: url,
        }),
        callbacks: {
          parser: awsSmsParser(),
          verifier:
            secret === undefined
              ? snsSignature({ topicArn: topicArn ?? [] })
              : sharedSecret({ secret }),
        },
      };
    },
  },
);
