export { sesParser } from './ses.js';
export { ses, type AwsCredentials, type SesOptions } from './ses.transport.js';
