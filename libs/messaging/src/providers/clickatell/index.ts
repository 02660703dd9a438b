export { clickatellParser } from './clickatell.js';
export { clickatell, type ClickatellOptions } from './clickatell.transport.js';
