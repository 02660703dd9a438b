import { plivo, plivoParser, plivoSignature } from '@dundun/messaging/plivo';
import { credential, httpUrl, text } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** SMS and WhatsApp through Plivo. */
export const PLIVO = carrierType(
  {
    auth_id: {
      parse: text([
        /^[A-Z0-9]{20}$/,
        'must be 20 capital letters and digits, as the console shows it',
      ]),
    },
    auth_token: { parse: credential, secret: 'whole' },
    callback_url: { parse: httpUrl },
    url: { parse: httpUrl, default: 'https://api.plivo.com' },
  },
  {
    channels: ['sms', 'whatsapp'],
    make: ({ auth_id, auth_token: authToken, callback_url, url }, { callbackPath }) => {
      const { origin } = new URL(callback_url);
      return {
        transport: plivo({
          authId: auth_id,
          authToken,
          callbackUrl: `${origin}/${callbackPath}`,
          baseUrl: url,
        }),
        callbacks: { parser: plivoParser(), verifier: plivoSignature({ authToken, origin }) },
      };
    },
  },
);
