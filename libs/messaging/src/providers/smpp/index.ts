export type { SmppOptions, SmppRefusal } from './smpp.options.js';
export { smpp } from './smpp.transport.js';
