export { postmarkParser } from './postmark.js';
export { postmark, type PostmarkOptions } from './postmark.transport.js';
