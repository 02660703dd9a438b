import { credential, httpUrl, text } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** Email through SendGrid. */
export const SENDGRID = carrierType(
  {
    api_key: { parse: credential, secret: 'part' },
    public_key: {
      parse: text([
        /^[0-9A-Za-z+/]{80,400}={0,2}$/,
        'must be the verification key of the Signed Event Webhook, as its settings show it',
      ]),
    },
    url: { parse: httpUrl, default: 'https://api.sendgrid.com' },
  },
  {
    channels: ['email'],
    signsMail: true,
    make: ({ api_key: apiKey, public_key, url: baseUrl }) => ({
      transport: {
        load: async ({ mail }) => {
          const { sendgrid } = await import('@dundun/messaging/sendgrid');
          const { unsubscribeUrl } = await mail();
          return sendgrid({ apiKey, baseUrl, unsubscribeUrl });
        },
      },
      callbacks: {
        load: async () => {
          const { sendgridParser, sendgridSignature } = await import('@dundun/messaging/sendgrid');
          return { parser: sendgridParser(), verifier: sendgridSignature(public_key) };
        },
      },
    }),
  },
);
