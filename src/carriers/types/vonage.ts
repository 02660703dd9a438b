import { vonage, vonageParser, vonageSignature } from '@dundun/messaging/vonage';
import { credential, flag, httpUrl, secretText, text } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** SMS and WhatsApp through Vonage's Messages API. */
export const VONAGE = carrierType(
  {
    api_key: { parse: credential, optional: true },
    api_secret: { parse: credential, secret: 'part', optional: true },
    application_id: { parse: credential, optional: true },
    private_key: {
      parse: text([/^-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'must be the private key, as PEM']),
      secret: 'whole',
      optional: true,
    },
    signature_secret: { parse: secretText, secret: 'whole' },
    callback_url: { parse: httpUrl },
    reports_api: { parse: flag, default: 'false' },
    url: { parse: httpUrl, default: 'https://api.nexmo.com' },
  },
  {
    channels: ['sms', 'whatsapp'],
    make: (
      {
        api_key,
        api_secret,
        application_id,
        private_key,
        signature_secret,
        callback_url,
        reports_api,
        url,
      },
      { callbackPath },
    ) => ({
      transport: vonage({
        apiKey: api_key,
        apiSecret: api_secret,
        applicationId: application_id,
        privateKey: private_key,
        callbackUrl: `${callback_url.replace(/\/+$/, '')}/${callbackPath}`,
        reportsApi: reports_api,
        baseUrl: url,
      }),
      callbacks: {
        parser: vonageParser(),
        verifier: vonageSignature({ secret: signature_secret }),
      },
    }),
  },
);
