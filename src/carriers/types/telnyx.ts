import { telnyx, telnyxParser, telnyxSignature } from '@dundun/messaging/telnyx';
import { credential, httpUrl, text, visible } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** SMS through Telnyx. */
export const TELNYX = carrierType(
  {
    api_key: { parse: credential, secret: 'part' },
    public_key: {
      parse: text([
        /^[0-9A-Za-z+/]{43}=$/,
        'must be 32 bytes in base64, as the portal shows it beside the API keys',
      ]),
    },
    messaging_profile_id: { parse: visible, optional: true },
    callback_url: { parse: httpUrl },
    url: { parse: httpUrl, default: 'https://api.telnyx.com' },
  },
  {
    channels: ['sms'],
    make: (
      { api_key, public_key: publicKey, messaging_profile_id, callback_url, url },
      { callbackPath },
    ) => ({
      transport: telnyx({
        apiKey: api_key,
        messagingProfileId: messaging_profile_id,
        callbackUrl: `${callback_url.replace(/\/+$/, '')}/${callbackPath}`,
        baseUrl: url,
      }),
      callbacks: { parser: telnyxParser(), verifier: telnyxSignature({ publicKey }) },
    }),
  },
);
