import {
  whatsappCloud,
  whatsappCloudParser,
  whatsappCloudSignature,
} from '@dundun/messaging/whatsapp-cloud';
import { httpUrl, secretText, text, UNDAMAGED } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

const cloudToken = text(...UNDAMAGED, [
  /^[\x21-\x7e]{16,}$/,
  'must be the whole access token of a system user, at least 16 ASCII characters',
]);

/** Meta's WhatsApp Cloud API; `dundun number add` binds the numbers of accounts to Meta's. */
export const WHATSAPP_CLOUD = carrierType(
  {
    token: { parse: cloudToken, secret: 'whole' },
    app_secret: { parse: secretText, secret: 'whole' },
    verify_token: {
      parse: secretText,
      secret: 'whole',
      remedy: 'openssl rand -hex 32 makes one; enter it at Meta beside the address of the webhook',
    },
    url: { parse: httpUrl, default: 'https://graph.facebook.com' },
  },
  {
    channels: ['whatsapp'],
    bindsNumbers: true,
    // One number's limit at Meta, in and out together.
    accountRates: { whatsapp: { max: 80, per: 1_000 } },
    make: ({ token, app_secret: appSecret, verify_token: verifyToken, url: baseUrl }) => ({
      transport: {
        load: ({ phoneNumberIdOf }) =>
          whatsappCloud({ token, baseUrl, phoneNumberIds: phoneNumberIdOf }),
      },
      callbacks: {
        parser: whatsappCloudParser(),
        verifier: whatsappCloudSignature({ appSecret, verifyToken }),
      },
    }),
  },
);
