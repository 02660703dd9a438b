export type { BounceCategory, BounceDetails } from './bounce.js';
export { type DkimIdentities, type DkimIdentity, type DkimKey, DkimKeyError } from './dkim.js';
export type { ListenerOptions, SmtpOptions, UnprovenMail } from './smtp.options.js';
export { smtp } from './smtp.transport.js';
