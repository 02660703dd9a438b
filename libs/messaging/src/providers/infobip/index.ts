export { infobipParser } from './infobip.js';
export { infobip, type InfobipOptions } from './infobip.transport.js';
