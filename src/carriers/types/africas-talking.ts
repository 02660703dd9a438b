import { sharedSecret } from '@dundun/messaging';
import { africasTalking, africasTalkingParser } from '@dundun/messaging/africas-talking';
import { credential, httpUrl, secretText, visible } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** SMS through Africa's Talking, whose reports are unsigned: their address has a secret. */
export const AFRICAS_TALKING = carrierType(
  {
    username: { parse: visible },
    api_key: { parse: credential, secret: 'part' },
    callback_secret: { parse: secretText, secret: 'whole' },
    url: { parse: httpUrl, default: 'https://api.africastalking.com' },
  },
  {
    channels: ['sms'],
    make: ({ username, api_key, callback_secret: secret, url }) => ({
      transport: africasTalking({ username, apiKey: api_key, baseUrl: url }),
      callbacks: { parser: africasTalkingParser(), verifier: sharedSecret({ secret }) },
    }),
  },
);
