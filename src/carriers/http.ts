import { http } from '@dundun/messaging';
import { apiKey, apiToken, serviceUrl, signingSecret } from '../config/parsers.js';
import { carrierType } from './carrier-type.js';

/** Another service that speaks the gateway's interface. */
export const HTTP = carrierType(
  {
    url: { parse: serviceUrl },
    token: { parse: apiToken, secret: 'whole', optional: true },
    key: { parse: apiKey, secret: 'whole', optional: true },
    callback_secret: { parse: signingSecret, secret: 'whole', optional: true },
  },
  ({ url, token, key, callback_secret: secret }) => ({
    transport: () =>
      http({
        baseUrl: url,
        apiToken: token,
        apiKey: key,
        // The gateway needs every report, also for customers without callbacks.
        deliveryReport: secret === undefined ? 'none' : 'yes',
      }),
    ...(secret !== undefined && { callbacks: { secrets: [secret] } }),
  }),
);
