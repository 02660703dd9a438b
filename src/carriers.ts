import {
  type CallbackOptions,
  http,
  kannel,
  kannelParser,
  kannelSignature,
  reloadly,
  simulator,
  type TransportFactory,
  twilioSignature,
  twilioVoice,
  twilioVoiceParser,
} from '@dundun/messaging';
import type { Environment } from './config/environment.js';
import { voiceProviderOf } from './config/voice-provider.js';
import type { MailRelay } from './email/mail-relay.js';

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

function httpCarrier({
  CARRIER_URL = '',
  CARRIER_TOKEN,
  CARRIER_KEY,
  CARRIER_CALLBACK_SECRET: secret,
}: Environment): Carrier {
  return {
    transport: http({
      baseUrl: CARRIER_URL,
      apiToken: CARRIER_TOKEN,
      apiKey: CARRIER_KEY,
      // The gateway needs every report, also for customers without callbacks.
      deliveryReport: secret === undefined ? 'none' : 'yes',
    }),
    callbacks: secret === undefined ? undefined : { secrets: [secret] },
  };
}

/**
 * `readEnvironment()` has checked the carrier's settings. A new carrier is an entry here and a
 * provider in the library.
 */
export const CARRIERS: Readonly<
  Record<Environment['CARRIER'], (environment: Environment) => Carrier>
> = {
  simulator: ({ WHATSAPP_PRICES }) => ({ transport: simulator({ rateCard: WHATSAPP_PRICES }) }),
  http: httpCarrier,
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
    (environment: Environment, relay: MailRelay, listens: boolean) => Promise<TransportFactory>
  >
> = {
  simulator: async () => simulator(),
  smtp: async ({ SMTP_URL = '' }, relay, listens) => {
    const { smtp } = await import('@dundun/messaging/smtp');
    return smtp({ url: SMTP_URL, ...(await relay.options(listens)) });
  },
  http: async (environment) => httpCarrier(environment).transport,
};

function twilioCarrier(environment: Environment): TransportFactory {
  const { TWILIO_ACCOUNT_SID = '', TWILIO_AUTH_TOKEN = '' } = environment;
  return twilioVoice({
    accountSid: TWILIO_ACCOUNT_SID,
    authToken: TWILIO_AUTH_TOKEN,
    baseUrl: environment.TWILIO_URL,
    callbackUrl: `${callbackOrigin(environment)}/${CARRIER_CALLBACK_PATH}/twilio`,
  });
}

/** Scheme and host of this gateway as Twilio calls it. */
function callbackOrigin({ TWILIO_CALLBACK_URL = '' }: Environment): string {
  return new URL(TWILIO_CALLBACK_URL).origin;
}

/** The provider of calls, with those that no other product has; `undefined`: the carrier of SMS. */
export interface VoiceCarrier {
  readonly use: string;
  readonly providers: Readonly<Record<string, TransportFactory>>;
}

export function voiceCarrier(environment: Environment): VoiceCarrier | undefined {
  const use = voiceProviderOf(environment);
  if (use === undefined) return undefined;
  if (use === 'twilio') return { use, providers: { [use]: twilioCarrier(environment) } };
  if (use !== 'http')
    return { use, providers: { [use]: simulator({ idempotencyWindow: 0, channels: ['voice'] }) } };
  const isKnown = environment.CARRIER === 'http' || environment.EMAIL_CARRIER === 'http';
  return { use, providers: isKnown ? {} : { http: httpCarrier(environment).transport } };
}

/** Providers of airtime and data beside the carrier of the other channels. */
export const VAS_CARRIERS: Readonly<
  Record<NonNullable<Environment['VAS_CARRIER']>, (environment: Environment) => TransportFactory>
> = {
  simulator: () => simulator(),
  http: (environment) => httpCarrier(environment).transport,
  reloadly: ({
    RELOADLY_CLIENT_ID: clientId = '',
    RELOADLY_CLIENT_SECRET: clientSecret = '',
    RELOADLY_COUNTRIES: countries = [],
    RELOADLY_URL: baseUrl,
    RELOADLY_AUTH_URL: authUrl,
  }) => reloadly({ clientId, clientSecret, countries, baseUrl, authUrl }),
};

/**
 * The endpoints of callbacks: the carrier's at the path itself, that of `EMAIL_CARRIER=http`,
 * `VOICE_CARRIER=http` or `VAS_CARRIER=http` beside another carrier at `http` below it. `undefined`: there is none.
 */
export function carrierCallbacks(environment: Environment): CallbackOptions | undefined {
  const { CARRIER, EMAIL_CARRIER, VOICE_CARRIER, VAS_CARRIER } = environment;
  const own = CARRIERS[CARRIER](environment).callbacks;
  const isBeside =
    [EMAIL_CARRIER, VOICE_CARRIER, VAS_CARRIER].includes('http') && CARRIER !== 'http';
  const beside = isBeside ? httpCarrier(environment).callbacks : undefined;
  const twilio = VOICE_CARRIER === 'twilio' && {
    parser: twilioVoiceParser({ authToken: environment.TWILIO_AUTH_TOKEN ?? '' }),
    verifier: twilioSignature({
      authToken: environment.TWILIO_AUTH_TOKEN ?? '',
      origin: callbackOrigin(environment),
    }),
  };
  if (!own && !beside && !twilio) return undefined;
  return {
    ...(own && { ...own, provider: CARRIER }),
    ...((beside || twilio) && {
      providers: { ...(beside && { http: beside }), ...(twilio && { twilio }) },
    }),
  };
}
