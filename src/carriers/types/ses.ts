import { snsSignature } from '@dundun/messaging/sns';
import { httpUrl, visible } from '../../settings/parsers.js';
import { AWS_SETTINGS, topicArns } from './aws.js';
import { carrierType } from '../carrier-type.js';

/** Email through Amazon SES, whose events come by SNS. */
export const SES = carrierType(
  {
    ...AWS_SETTINGS,
    topic_arn: { parse: topicArns },
    configuration_set: { parse: visible, optional: true },
    url: { parse: httpUrl, optional: true },
  },
  {
    channels: ['email'],
    signsMail: true,
    callsInText: true,
    make: ({ region, topic_arn: topicArn, configuration_set, url, ...keys }) => ({
      transport: {
        load: async ({ mail }) => {
          const { ses } = await import('@dundun/messaging/ses');
          const { unsubscribeUrl } = await mail();
          return ses({
            region,
            credentials: {
              accessKeyId: keys.access_key_id,
              secretAccessKey: keys.secret_access_key,
            },
            configurationSet: configuration_set,
            baseUrl: url,
            unsubscribeUrl,
          });
        },
      },
      callbacks: {
        load: async () => {
          const { sesParser } = await import('@dundun/messaging/ses');
          return { parser: sesParser(), verifier: snsSignature({ topicArn }) };
        },
      },
    }),
  },
);
