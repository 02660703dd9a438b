import { basicAuth } from '@dundun/messaging';
import { credential, httpUrl, secretText, visible } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** User of the callbacks, which Postmark does not sign. */
const USER = 'postmark';

/** Email through Postmark. */
export const POSTMARK = carrierType(
  {
    server_token: { parse: credential, secret: 'part' },
    callback_secret: { parse: secretText, secret: 'whole' },
    message_stream: { parse: visible, default: 'outbound' },
    marketing_stream: { parse: visible, default: 'broadcast' },
    url: { parse: httpUrl, default: 'https://api.postmarkapp.com' },
  },
  {
    channels: ['email'],
    signsMail: true,
    make: ({ server_token, callback_secret, message_stream, marketing_stream, url }) => ({
      transport: {
        load: async ({ mail }) => {
          const { postmark } = await import('@dundun/messaging/postmark');
          const { unsubscribeUrl } = await mail();
          return postmark({
            serverToken: server_token,
            messageStream: message_stream,
            marketingStream: marketing_stream,
            baseUrl: url,
            unsubscribeUrl,
          });
        },
      },
      callbacks: {
        load: async () => {
          const { postmarkParser } = await import('@dundun/messaging/postmark');
          const verifier = basicAuth({ username: USER, password: callback_secret });
          return { parser: postmarkParser(), verifier };
        },
      },
    }),
  },
);
