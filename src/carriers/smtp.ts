import { oneOf } from '../settings/parsers.js';
import { carrierType } from './carrier-type.js';

function relayUrl(written: string): string {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if ((url?.protocol !== 'smtp:' && url?.protocol !== 'smtps:') || url.hostname === '')
    throw new Error('is no relay; write smtp://user:password@relay.example.com:587 or smtps://…');
  if ((url.username === '') !== (url.password === ''))
    throw new Error('has a user or a password alone; write both or none');
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    throw new Error('must be an address without path, query or fragment');
  return written;
}

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
