export { plivoParser, plivoSignature } from './plivo.js';
export { plivo, type PlivoOptions } from './plivo.transport.js';
