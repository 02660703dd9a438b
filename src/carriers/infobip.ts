import { infobip, infobipParser, sharedSecret } from '@dundun/messaging';
import { credential, httpUrl, secretText } from '../config/parsers.js';
import { carrierType } from './carrier-type.js';

/** SMS and WhatsApp through Infobip, whose reports are unsigned: their address has a secret. */
export const INFOBIP = carrierType(
  {
    url: { parse: httpUrl },
    api_key: { parse: credential, secret: 'part' },
    callback_url: { parse: httpUrl },
    callback_secret: { parse: secretText, secret: 'whole' },
  },
  ({ url, api_key, callback_url: base, callback_secret: secret }, { callbackPath }) => {
    const transport = infobip({
      baseUrl: url,
      apiKey: api_key,
      callbackUrl: `${base.replace(/\/+$/, '')}/${callbackPath}/${encodeURIComponent(secret)}`,
    });
    return {
      transport: () => transport,
      callbacks: { parser: infobipParser(), verifier: sharedSecret({ secret }) },
    };
  },
);
