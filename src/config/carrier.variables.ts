import {
  apiKey,
  apiToken,
  httpUrl,
  oneOf,
  optional,
  required,
  secretText,
  serviceUrl,
  signingSecret,
  visible,
} from './variable.js';

/** The way out, and what each carrier needs. */
export const CARRIER_VARIABLES = {
  CARRIER: required({
    default: 'simulator',
    parse: oneOf('simulator', 'http', 'kannel'),
    description:
      'The way out: `simulator` delivers nothing and reports like a network; `http` is another service that speaks this interface; `kannel` is a Kannel SMS gateway. See [carriers](carriers.md).',
  }),
  CARRIER_URL: optional({
    parse: serviceUrl,
    description: 'Address of the carrier, for `CARRIER=http`.',
  }),
  CARRIER_TOKEN: optional({
    parse: apiToken,
    description: 'API token at the carrier, for `CARRIER=http`.',
    secret: true,
  }),
  CARRIER_KEY: optional({
    parse: apiKey,
    description:
      'The `svk_…` key at the carrier, for WhatsApp with `CARRIER=http`. Without it a WhatsApp send is answered 503.',
    secret: true,
  }),
  CARRIER_CALLBACK_SECRET: optional({
    parse: signingSecret,
    description:
      'The `whsec_…` secret the carrier signs its delivery reports with. Without it no callback is taken and reports are only fetched.',
    secret: true,
  }),
  KANNEL_URL: optional({
    parse: httpUrl,
    description:
      "Address of Kannel's smsbox, for `CARRIER=kannel`; without a path, `/cgi-bin/sendsms` is added.",
    // Where it is wrong, it may be because it holds the password.
    secret: true,
  }),
  KANNEL_USERNAME: optional({
    parse: visible,
    description: 'User of its `sendsms-user` group, for `CARRIER=kannel`.',
  }),
  KANNEL_PASSWORD: optional({
    parse: visible,
    description: 'Password of that user.',
    secret: true,
  }),
  KANNEL_CALLBACK_URL: optional({
    parse: httpUrl,
    description:
      'Address of this gateway as Kannel reaches it, for `CARRIER=kannel`; `/messaging/delivery-reports` is added.',
  }),
  KANNEL_CALLBACK_SECRET: optional({
    parse: secretText,
    description:
      'Signs the addresses Kannel calls with its reports. At least 16 characters; `openssl rand -hex 32` makes one.',
    secret: true,
  }),
} as const;
