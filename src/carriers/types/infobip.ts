import { sharedSecret } from '@dundun/messaging';
import { infobip, infobipParser } from '@dundun/messaging/infobip';
import { credential, httpUrl, secretText } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** SMS and WhatsApp through Infobip, whose reports are unsigned: their address has a secret. */
export const INFOBIP = carrierType(
  {
    url: { parse: httpUrl },
    api_key: { parse: credential, secret: 'part' },
    callback_url: { parse: httpUrl },
    callback_secret: { parse: secretText, secret: 'whole' },
  },
  {
    channels: ['sms', 'whatsapp'],
    make: ({ url, api_key, callback_url: base, callback_secret: secret }, { callbackPath }) => ({
      transport: infobip({
        baseUrl: url,
        apiKey: api_key,
        callbackUrl: `${base.replace(/\/+$/, '')}/${callbackPath}/${encodeURIComponent(secret)}`,
      }),
      callbacks: { parser: infobipParser(), verifier: sharedSecret({ secret }) },
    }),
  },
);
