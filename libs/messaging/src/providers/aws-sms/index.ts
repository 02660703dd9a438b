export { awsSmsParser } from './aws-sms.js';
export { awsSms, type AwsSmsOptions } from './aws-sms.transport.js';
