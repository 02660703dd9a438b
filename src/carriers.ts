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

/** Path of the carriers' delivery reports. */
export const CARRIER_CALLBACK_PATH = 'messaging/delivery-reports';

/** Most bytes of a callback: the library's own limit. */
export const CARRIER_CALLBACK_BYTES = 1_048_576;

/** A carrier's transport, and its callbacks if it has any. */
export interface Carrier {
  readonly transport: TransportFactory;
  readonly callbacks?: CallbackOptions;
}

/** Carriers by the value of `CARRIER`. A new carrier is an entry here and a provider in the library. */
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
        // The gateway needs every report, also for customers without callbacks.
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

/** `readEnvironment()` has checked that the carrier's settings are there. */
function needed(environment: Environment, name: CarrierSetting): string {
  const value = environment[name];
  if (value === undefined) throw new TypeError(`CARRIER=${environment.CARRIER} lacks ${name}`);
  return value;
}

type CarrierSetting = Extract<keyof Environment, `CARRIER_${'URL' | 'TOKEN'}` | `KANNEL_${string}`>;
