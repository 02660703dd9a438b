import {
  whatsappCloud,
  whatsappCloudParser,
  whatsappCloudSignature,
} from '@dundun/messaging/whatsapp-cloud';
import { cloudToken, httpUrl, secretText } from '../config/parsers.js';
import { carrierType } from './carrier-type.js';

/** Meta's WhatsApp Cloud API; `dundun number add` binds the numbers of accounts to Meta's. */
export const WHATSAPP_CLOUD = carrierType(
  {
    token: { parse: cloudToken, secret: 'whole' },
    app_secret: { parse: secretText, secret: 'whole' },
    verify_token: { parse: secretText, secret: 'whole' },
    url: { parse: httpUrl, default: 'https://graph.facebook.com' },
  },
  (
    { token, app_secret: appSecret, verify_token: verifyToken, url: baseUrl },
    { phoneNumberIdOf = () => undefined },
  ) => ({
    transport: () => whatsappCloud({ token, baseUrl, phoneNumberIds: phoneNumberIdOf }),
    callbacks: {
      parser: whatsappCloudParser(),
      verifier: whatsappCloudSignature({ appSecret, verifyToken }),
    },
  }),
);
