import {
  type CallbackOptions,
  http,
  kannel,
  KannelCallbackVerifier,
  KannelReportParser,
  simulator,
  type TransportFactory,
} from '@dundun/messaging';
import type { Environment } from './config/environment.js';

/** Where carriers report deliveries. */
export const CARRIER_CALLBACK_PATH = 'messaging/delivery-reports';

/** Bytes of a callback; the library takes no more. */
export const CARRIER_CALLBACK_BYTES = 1_048_576;

/** A way out, and how it reports back where it calls. */
export interface Carrier {
  readonly transport: TransportFactory;
  readonly callbacks?: CallbackOptions;
}

/** How `CARRIER` becomes a way out; a new carrier is a new entry here and a folder in the library. */
export const CARRIERS: Readonly<
  Record<Environment['CARRIER'], (environment: Environment) => Carrier>
> = {
  simulator: ({ WHATSAPP_PRICES }) => ({ transport: simulator({ rateCard: WHATSAPP_PRICES }) }),
  http: (environment) => {
    const secret = environment.CARRIER_CALLBACK_SECRET;
    return {
      transport: http({
        baseUrl: needed(environment, 'CARRIER_URL'),
        apiToken: needed(environment, 'CARRIER_TOKEN'),
        ...(environment.CARRIER_KEY !== undefined && { apiKey: environment.CARRIER_KEY }),
        // The gateway follows every message, whether or not its customer asked for callbacks.
        deliveryReport: secret === undefined ? 'none' : 'yes',
      }),
      ...(secret !== undefined && { callbacks: { secrets: [secret] } }),
    };
  },
  kannel: (environment) => {
    const callbackSecret = needed(environment, 'KANNEL_CALLBACK_SECRET');
    const gateway = needed(environment, 'KANNEL_CALLBACK_URL').replace(/\/+$/, '');
    return {
      transport: kannel({
        url: needed(environment, 'KANNEL_URL'),
        username: needed(environment, 'KANNEL_USERNAME'),
        password: needed(environment, 'KANNEL_PASSWORD'),
        callbackUrl: `${gateway}/${CARRIER_CALLBACK_PATH}`,
        callbackSecret,
      }),
      callbacks: {
        parser: new KannelReportParser(),
        verifier: new KannelCallbackVerifier(callbackSecret),
      },
    };
  },
};

/** `readEnvironment()` lets no carrier through without what it needs. */
function needed(environment: Environment, name: CarrierSetting): string {
  const value = environment[name];
  if (value === undefined)
    throw new TypeError(`CARRIER=${environment.CARRIER} was let through without ${name}`);
  return value;
}

type CarrierSetting = Extract<keyof Environment, `CARRIER_${'URL' | 'TOKEN'}` | `KANNEL_${string}`>;
