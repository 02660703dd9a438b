export { vonageParser, vonageSignature } from './vonage.js';
export { vonage, type VonageOptions } from './vonage.transport.js';
