import { termii, termiiParser, termiiSignature } from '@dundun/messaging/termii';
import { credential, httpUrl, oneOf, secretText } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** SMS through Termii. */
export const TERMII = carrierType(
  {
    url: { parse: httpUrl },
    api_key: { parse: credential, secret: 'part' },
    secret_key: { parse: secretText, secret: 'whole' },
    route: { parse: oneOf('generic', 'dnd'), default: 'generic' },
  },
  {
    channels: ['sms'],
    make: ({ url, api_key, secret_key, route }) => ({
      transport: termii({ baseUrl: url, apiKey: api_key, route }),
      callbacks: { parser: termiiParser(), verifier: termiiSignature(secret_key) },
    }),
  },
);
