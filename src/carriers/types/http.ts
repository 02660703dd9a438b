import { http, MessagingConfigError } from '@dundun/messaging';
import { httpUrl, signingSecret, text, UNDAMAGED, VISIBLE } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

function serviceUrl(written: string): string {
  if (/\/ng\/v1\b/.test(new URL(httpUrl(written)).pathname))
    throw new Error('holds the path of an operation; write the address before /ng/v1');
  return written;
}

const apiToken = text(
  [/^(?!svk_)/, 'is an svk_ key, which SMS does not take; write it as {key}'],
  ...UNDAMAGED,
  VISIBLE,
);

const apiKey = text(
  ...UNDAMAGED,
  [/^svk_/, 'must start with svk_; the API token is written as {token}'],
  VISIBLE,
);

/** Another service that speaks the gateway's interface. */
export const HTTP = carrierType(
  {
    url: { parse: serviceUrl },
    token: { parse: apiToken, secret: 'whole', optional: true, carries: ['sms', 'voice', 'vas'] },
    key: { parse: apiKey, secret: 'whole', optional: true, carries: ['whatsapp', 'email'] },
    callback_secret: { parse: signingSecret, secret: 'whole', optional: true },
  },
  {
    channels: ['sms', 'whatsapp', 'email', 'voice', 'vas'],
    make: ({ url, token, key, callback_secret: secret }) => {
      if (token === undefined && key === undefined)
        throw new MessagingConfigError('token: is missing; {key} alone is for WhatsApp and email');
      return {
        // The gateway needs every report, also for customers without callbacks.
        transport: http({
          baseUrl: url,
          apiToken: token,
          apiKey: key,
          deliveryReport: secret !== undefined,
        }),
        ...(secret !== undefined && { callbacks: { secrets: [secret] } }),
      };
    },
  },
);
