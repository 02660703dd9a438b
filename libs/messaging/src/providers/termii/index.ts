export { termiiParser, termiiSignature } from './termii.js';
export { termii, type TermiiOptions } from './termii.transport.js';
