export { telnyxParser, telnyxSignature, type TelnyxSignatureOptions } from './telnyx.js';
export { telnyx, type TelnyxOptions } from './telnyx.transport.js';
