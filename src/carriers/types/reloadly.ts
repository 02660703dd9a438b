import { reloadly } from '@dundun/messaging/reloadly';
import { countries, httpUrl, visible } from '../../settings/parsers.js';
import { carrierType } from '../carrier-type.js';

/** Airtime and data through Reloadly. */
export const RELOADLY = carrierType(
  {
    client_id: { parse: visible },
    client_secret: { parse: visible, secret: 'whole' },
    countries: { parse: countries },
    url: { parse: httpUrl, default: 'https://topups.reloadly.com' },
    auth_url: { parse: httpUrl, default: 'https://auth.reloadly.com' },
  },
  {
    channels: ['vas'],
    make: ({ client_id, client_secret, countries: offered, url, auth_url }) => ({
      transport: reloadly({
        clientId: client_id,
        clientSecret: client_secret,
        countries: offered,
        baseUrl: url,
        authUrl: auth_url,
      }),
    }),
  },
);
