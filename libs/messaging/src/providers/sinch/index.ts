export { sinchParser, sinchSignature } from './sinch.js';
export { sinch, type SinchOptions } from './sinch.transport.js';
