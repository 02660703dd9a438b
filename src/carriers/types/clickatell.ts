import { sharedSecret } from '@dundun/messaging';
import { clickatell, clickatellParser } from '@dundun/messaging/clickatell';
import { credential, httpUrl, secretText } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** SMS, and texts on WhatsApp, through Clickatell: the address of its callbacks has a secret. */
export const CLICKATELL = carrierType(
  {
    api_key: { parse: credential, secret: 'part' },
    callback_secret: { parse: secretText, secret: 'whole' },
    url: { parse: httpUrl, default: 'https://platform.clickatell.com' },
  },
  {
    channels: ['sms', 'whatsapp'],
    make: ({ api_key, callback_secret: secret, url }) => ({
      transport: clickatell({ apiKey: api_key, baseUrl: url }),
      callbacks: { parser: clickatellParser(), verifier: sharedSecret({ secret }) },
    }),
  },
);
