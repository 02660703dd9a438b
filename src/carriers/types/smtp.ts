import { oneOf, relayUrl } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** Email through a relay. */
export const SMTP = carrierType(
  {
    url: {
      parse: relayUrl,
      secret: 'part',
      remedy: 'write smtp://user:password@relay.example.com:587',
    },
    tls: { parse: oneOf('required', 'opportunistic', 'off'), default: 'required' },
  },
  {
    channels: ['email'],
    takesMail: true,
    make: ({ url, tls }) => ({
      transport: {
        load: async ({ mail }) => {
          const { smtp } = await import('@dundun/messaging/smtp');
          return smtp({ url, tls, ...(await mail()) });
        },
      },
    }),
  },
);
