import { credential, httpUrl, signingSecret } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** Email through Resend. */
export const RESEND = carrierType(
  {
    api_key: { parse: credential, secret: 'part' },
    webhook_secret: { parse: signingSecret, secret: 'whole' },
    url: { parse: httpUrl, default: 'https://api.resend.com' },
  },
  {
    channels: ['email'],
    signsMail: true,
    make: ({ api_key: apiKey, webhook_secret, url: baseUrl }) => ({
      transport: {
        load: async ({ mail }) => {
          const { resend } = await import('@dundun/messaging/resend');
          const { unsubscribeUrl } = await mail();
          return resend({ apiKey, baseUrl, unsubscribeUrl });
        },
      },
      callbacks: {
        load: async () => {
          const { resendParser, resendSignature } = await import('@dundun/messaging/resend');
          return { parser: resendParser(), verifier: resendSignature(webhook_secret) };
        },
      },
    }),
  },
);
