/** Reads inbound messages and their files, and has the types of their contents. */
export { InboundService, type MediaOptions } from './inbound.service.js';
export { mediaHeaders } from './media-headers.js';
export { InboundMediaError } from './message/errors.js';
export type { InboundCard, InboundFile } from './message/content/inbound-content.js';
export type { InboundRecord } from './message/views.js';
