export { sendgridParser, sendgridSignature } from './sendgrid.js';
export { sendgrid, type SendGridOptions } from './sendgrid.transport.js';
