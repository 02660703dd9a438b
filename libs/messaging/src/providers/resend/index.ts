export { resendParser, resendSignature } from './resend.js';
export { resend, type ResendOptions } from './resend.transport.js';
