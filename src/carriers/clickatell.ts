import { clickatell, clickatellParser, sharedSecret } from '@dundun/messaging';
import { credential, httpUrl, secretText } from '../config/parsers.js';
import { carrierType } from './carrier-type.js';

/** SMS, and texts on WhatsApp, through Clickatell: the address of its callbacks has a secret. */
export const CLICKATELL = carrierType(
  {
    api_key: { parse: credential, secret: 'part' },
    callback_secret: { parse: secretText, secret: 'whole' },
    url: { parse: httpUrl, default: 'https://platform.clickatell.com' },
  },
  ({ api_key, callback_secret: secret, url }) => {
    const transport = clickatell({ apiKey: api_key, baseUrl: url });
    return {
      transport: () => transport,
      callbacks: { parser: clickatellParser(), verifier: sharedSecret({ secret }) },
    };
  },
);
