import { termii, termiiParser, termiiSignature } from '@dundun/messaging';
import { credential, httpUrl, oneOf, secretText } from '../config/parsers.js';
import { carrierType } from './carrier-type.js';

/** SMS through Termii. */
export const TERMII = carrierType(
  {
    url: { parse: httpUrl },
    api_key: { parse: credential, secret: 'part' },
    secret_key: { parse: secretText, secret: 'whole' },
    route: { parse: oneOf('generic', 'dnd'), default: 'generic' },
  },
  ({ url, api_key, secret_key, route }) => {
    const transport = termii({ baseUrl: url, apiKey: api_key, route });
    return {
      transport: () => transport,
      callbacks: { parser: termiiParser(), verifier: termiiSignature(secret_key) },
    };
  },
);
