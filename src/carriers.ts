import {
  type CallbackOptions,
  http,
  kannel,
  kannelParser,
  kannelSignature,
  simulator,
  type TransportFactory,
} from '@dundun/messaging';
import type { SmtpOptions } from '@dundun/messaging/smtp';
import type { Environment } from './config/environment.js';

export const CARRIER_CALLBACK_PATH = 'messaging/delivery-reports';

/** Most bytes of a callback: the library's own limit. */
export const CARRIER_CALLBACK_BYTES = 1_048_576;

export function isCarrierCallback(route = ''): boolean {
  return `${route}/`.startsWith(`/${CARRIER_CALLBACK_PATH}/`);
}

export interface Carrier {
  readonly transport: TransportFactory;
  readonly callbacks?: CallbackOptions | undefined;
}

/**
 * `readEnvironment()` has checked the carrier's settings. A new carrier is an entry here and a
 * provider in the library.
 */
export const CARRIERS: Readonly<
  Record<Environment['CARRIER'], (environment: Environment) => Carrier>
> = {
  simulator: ({ WHATSAPP_PRICES }) => ({ transport: simulator({ rateCard: WHATSAPP_PRICES }) }),
  http: ({ CARRIER_URL = '', CARRIER_TOKEN = '', CARRIER_KEY, CARRIER_CALLBACK_SECRET }) => ({
    transport: http({
      baseUrl: CARRIER_URL,
      apiToken: CARRIER_TOKEN,
      apiKey: CARRIER_KEY,
      // The gateway needs every report, also for customers without callbacks.
      deliveryReport: CARRIER_CALLBACK_SECRET === undefined ? 'none' : 'yes',
    }),
    callbacks:
      CARRIER_CALLBACK_SECRET === undefined ? undefined : { secrets: [CARRIER_CALLBACK_SECRET] },
  }),
  kannel: ({
    KANNEL_URL = '',
    KANNEL_USERNAME = '',
    KANNEL_PASSWORD = '',
    KANNEL_CALLBACK_URL = '',
    KANNEL_CALLBACK_SECRET = '',
  }) => ({
    transport: kannel({
      url: KANNEL_URL,
      username: KANNEL_USERNAME,
      password: KANNEL_PASSWORD,
      callback: {
        url: `${KANNEL_CALLBACK_URL.replace(/\/+$/, '')}/${CARRIER_CALLBACK_PATH}`,
        secret: KANNEL_CALLBACK_SECRET,
      },
    }),
    callbacks: { parser: kannelParser(), verifier: kannelSignature(KANNEL_CALLBACK_SECRET) },
  }),
};

/** Providers of email beside the carrier of the other channels, loaded where they are selected. */
export const EMAIL_CARRIERS: Readonly<
  Record<
    NonNullable<Environment['EMAIL_CARRIER']>,
    (
      environment: Environment,
      ofAccounts: Pick<SmtpOptions, 'dkim' | 'unsubscribeUrl'>,
    ) => Promise<TransportFactory>
  >
> = {
  simulator: async () => simulator(),
  smtp: async ({ SMTP_URL = '', SMTP_TLS }, ofAccounts) => {
    const { smtp } = await import('@dundun/messaging/smtp');
    return smtp({ url: SMTP_URL, tls: SMTP_TLS, ...ofAccounts });
  },
};
