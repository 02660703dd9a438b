export { type BounceCategory, type BounceDetails, suppresses } from './bounce.js';
export { type DkimIdentities, type DkimIdentity, type DkimKey, DkimKeyError } from './dkim.js';
export type { SmtpOptions } from './smtp.options.js';
export { smtp, SmtpTransport } from './smtp.transport.js';
