export { birdParser, birdSignature, type BirdSignatureOptions } from './bird.js';
export { bird, type BirdOptions } from './bird.transport.js';
