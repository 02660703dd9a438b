export { snsSignature, type SnsSignatureOptions } from './sns-signature.js';
