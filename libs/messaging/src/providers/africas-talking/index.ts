export { africasTalkingParser } from './africas-talking.js';
export { africasTalking, type AfricasTalkingOptions } from './africas-talking.transport.js';
