export { kannelInboundParser, kannelParser, kannelSignature } from './kannel-callbacks.js';
export { kannel, type KannelOptions } from './kannel.transport.js';
