import { form, text } from '../../settings/parsers.js';

/** Keys of a user of AWS, and the region of the service. */
export const AWS_SETTINGS = {
  region: {
    parse: text([/^[a-z]{2}(-[a-z]+)+-\d{1,2}$/, 'must be a region, such as eu-west-1']),
  },
  access_key_id: {
    parse: text([/^\w{16,128}$/, 'must be the id of an access key: 16 to 128 letters and digits']),
  },
  secret_access_key: {
    parse: text([/^[\x21-\x7e]{16,}$/, 'must be the secret of the access key, without spaces']),
    secret: 'whole',
  },
} as const;

/** ARNs of topics of SNS, such as those of events and of inbound messages. */
export const topicArns = form(
  'must be the ARN of a topic, or several; write it as arn:aws:sns:eu-west-1:123456789012:mail',
  (written) => {
    const arns = written.split(/[\s,]+/);
    const arn = /^arn:(aws|aws-cn|aws-us-gov):sns:[a-z0-9-]{3,32}:\d{12}:[\w.-]{1,256}$/;
    return arns.every((one) => arn.test(one)) ? arns : undefined;
  },
);
