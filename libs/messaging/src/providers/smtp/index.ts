export { type DkimIdentities, type DkimIdentity, type DkimKey, DkimKeyError } from './dkim.js';
