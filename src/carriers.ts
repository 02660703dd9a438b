import {
  type CallbackOptions,
  type MessagingOptions,
  reloadly,
  simulator,
  type TransportFactory,
  twilioSignature,
  twilioVoice,
  twilioVoiceParser,
} from '@dundun/messaging';
import type { Carrier, CarrierPlace, PhoneNumberIdOf } from './carriers/carrier-type.js';
import { FILE_CALLBACK_PATH, fileCarriers } from './carriers/file-carriers.js';
import { HTTP } from './carriers/http.js';
import { KANNEL } from './carriers/kannel.js';
import { SIMULATOR } from './carriers/simulator.js';
import { SMPP } from './carriers/smpp.js';
import { WHATSAPP_CLOUD } from './carriers/whatsapp-cloud.js';
import type { Environment } from './config/environment.js';
import { channelCarriers } from './config/channel-carriers.js';
import { voiceProviderOf } from './config/voice-provider.js';
import type { MailRelay } from './email/mail-relay.js';

const CARRIER_CALLBACK_PATH = 'messaging/delivery-reports';

/** Most bytes of a callback: the library's own limit. */
export const CARRIER_CALLBACK_BYTES = 1_048_576;

export function isCarrierCallback(route = ''): boolean {
  return [CARRIER_CALLBACK_PATH, FILE_CALLBACK_PATH].some((path) =>
    `${route}/`.startsWith(`/${path}/`),
  );
}

/** Path of the endpoints of callbacks, those of carriers with a name below it. */
export function callbackPathOf({ written }: Environment): string {
  return written ? FILE_CALLBACK_PATH : CARRIER_CALLBACK_PATH;
}

/** The settings of `CARRIER=http`, and of `http` for one product alone. */
function httpCarrier(environment: Environment) {
  const { CARRIER_URL = '', CARRIER_TOKEN, CARRIER_KEY, CARRIER_CALLBACK_SECRET } = environment;
  return HTTP.make(
    {
      url: CARRIER_URL,
      token: CARRIER_TOKEN,
      key: CARRIER_KEY,
      callback_secret: CARRIER_CALLBACK_SECRET,
    },
    placeOf(environment),
  );
}

function placeOf(environment: Environment): CarrierPlace {
  return { callbackPath: CARRIER_CALLBACK_PATH, environment };
}

/**
 * The carriers of `CARRIER`, made of variables, which `readEnvironment()` has checked. The types are in
 * `carriers/`.
 */
const CARRIERS: Readonly<Record<Environment['CARRIER'], (environment: Environment) => Carrier>> = {
  simulator: (environment) => SIMULATOR.make({}, placeOf(environment)),
  http: httpCarrier,
  smpp: (environment) => {
    const { SMPP_URL: url = '', SMPP_BINDS: binds, SMPP_WINDOW: window } = environment;
    const {
      SMPP_MAX_BINDS: max_binds,
      SMPP_SYSTEM_TYPE,
      SMPP_LONG: long,
      SMPP_ID_FORMAT,
      SMPP_TIME_ZONE,
    } = environment;
    const naming = { system_type: SMPP_SYSTEM_TYPE, id_format: SMPP_ID_FORMAT };
    return SMPP.make(
      { url, binds, max_binds, window, long, ...naming, time_zone: SMPP_TIME_ZONE },
      placeOf(environment),
    );
  },
  kannel: (environment) =>
    KANNEL.make(
      {
        url: environment.KANNEL_URL ?? '',
        username: environment.KANNEL_USERNAME ?? '',
        password: environment.KANNEL_PASSWORD ?? '',
        callback_url: environment.KANNEL_CALLBACK_URL ?? '',
        callback_secret: environment.KANNEL_CALLBACK_SECRET ?? '',
      },
      placeOf(environment),
    ),
};

/** Providers of email beside the carrier of the other channels, loaded where they are selected. */
const EMAIL_CARRIERS: Readonly<
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
  http: async (environment) => httpCarrier(environment).transport(),
};

function twilioCarrier(environment: Environment): TransportFactory {
  const { TWILIO_ACCOUNT_SID = '', TWILIO_AUTH_TOKEN = '' } = environment;
  return twilioVoice({
    accountSid: TWILIO_ACCOUNT_SID,
    authToken: TWILIO_AUTH_TOKEN,
    baseUrl: environment.TWILIO_URL,
    callbackUrl: `${callbackOrigin(environment)}/${callbackPathOf(environment)}/twilio`,
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

function voiceCarrier(environment: Environment): VoiceCarrier | undefined {
  const use = voiceProviderOf(environment);
  if (use === undefined) return undefined;
  if (use === 'twilio') return { use, providers: { [use]: twilioCarrier(environment) } };
  if (use !== 'http')
    return { use, providers: { [use]: simulator({ idempotencyWindow: 0, channels: ['voice'] }) } };
  const isKnown = environment.CARRIER === 'http' || environment.EMAIL_CARRIER === 'http';
  return { use, providers: isKnown ? {} : { http: httpCarrier(environment).transport() } };
}

/** Most messages of an account a second, which is one number's limit at Meta, in and out together. */
export const META_RATE = { max: 80, per: 1_000 } as const;

/** Providers of WhatsApp beside the carrier of the other channels. */
const WHATSAPP_CARRIERS: Readonly<
  Record<NonNullable<Environment['WHATSAPP_CARRIER']>, (place: CarrierPlace) => Carrier>
> = {
  'whatsapp-cloud': (place) => {
    const { environment } = place;
    return WHATSAPP_CLOUD.make(
      {
        token: environment.WHATSAPP_CLOUD_TOKEN ?? '',
        app_secret: environment.WHATSAPP_CLOUD_APP_SECRET ?? '',
        verify_token: environment.WHATSAPP_CLOUD_VERIFY_TOKEN ?? '',
        url: environment.WHATSAPP_CLOUD_URL,
      },
      place,
    );
  },
};

/** `undefined`: WhatsApp messages leave with the others. */
function whatsAppCarrier(environment: Environment, phoneNumberIdOf?: PhoneNumberIdOf) {
  const { WHATSAPP_CARRIER: name } = environment;
  if (name === undefined) return undefined;
  return { name, ...WHATSAPP_CARRIERS[name]({ ...placeOf(environment), phoneNumberIdOf }) };
}

/** Providers of airtime and data beside the carrier of the other channels. */
const VAS_CARRIERS: Readonly<
  Record<NonNullable<Environment['VAS_CARRIER']>, (environment: Environment) => TransportFactory>
> = {
  simulator: () => simulator(),
  http: (environment) => httpCarrier(environment).transport(),
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
 * `VOICE_CARRIER=http` or `VAS_CARRIER=http` beside another carrier at `http` below it, those of Twilio
 * and Meta at their names. `undefined`: there is none.
 */
export function carrierCallbacks(environment: Environment): CallbackOptions | undefined {
  const { CARRIER, EMAIL_CARRIER, VOICE_CARRIER, VAS_CARRIER, written } = environment;
  const own = written ? undefined : CARRIERS[CARRIER](environment).callbacks;
  const named = Object.fromEntries(
    (fileCarriers(environment)?.carriers ?? []).flatMap(({ name, callbacks }) =>
      callbacks ? [[name, callbacks]] : [],
    ),
  );
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
  const whatsApp = whatsAppCarrier(environment);
  const providers = {
    ...named,
    ...(beside && { http: beside }),
    ...(twilio && { twilio }),
    ...(whatsApp?.callbacks && { [whatsApp.name]: whatsApp.callbacks }),
  };
  const hasNamed = Object.keys(providers).length > 0;
  if (!own && !hasNamed) return undefined;
  return { ...(own && { ...own, provider: CARRIER }), ...(hasNamed && { providers }) };
}

/** The providers of the gateway, and the routes to them. */
export async function waysOut(
  environment: Environment,
  relay: MailRelay,
  listens: boolean,
  phoneNumberIdOf: PhoneNumberIdOf,
): Promise<Required<Pick<MessagingOptions, 'providers' | 'routes'>>> {
  const { CARRIER, CARRIER_RATE_LIMIT, EMAIL_CARRIER, VAS_CARRIER } = environment;
  const file = fileCarriers(environment, phoneNumberIdOf);
  const main = file?.carriers ?? [
    {
      name: CARRIER,
      rateLimit: CARRIER_RATE_LIMIT,
      prices: undefined,
      ...CARRIERS[CARRIER](environment),
    },
  ];
  const carriers = await Promise.all(
    main.map(async ({ name, rateLimit, prices, transport }) => {
      return [name, { transport: await transport(), rateLimit, prices }] as const;
    }),
  );
  const voice = voiceCarrier(environment);
  const whatsApp = whatsAppCarrier(environment, phoneNumberIdOf);
  const own = channelCarriers(environment);
  const hasOwn = (name: string) => own.some(({ channel }) => channel === name);
  const email = hasOwn('email') ? EMAIL_CARRIER : undefined;
  const vas = hasOwn('vas') ? VAS_CARRIER : undefined;
  return {
    providers: {
      ...Object.fromEntries(carriers),
      ...(vas && { [vas]: VAS_CARRIERS[vas](environment) }),
      ...(email && { [email]: await EMAIL_CARRIERS[email](environment, relay, listens) }),
      ...voice?.providers,
      ...(whatsApp && { [whatsApp.name]: await whatsApp.transport() }),
    },
    routes: [
      ...own.map(({ channel, carrier }) => ({ channel, use: carrier })),
      ...(file?.routes ?? [{ use: CARRIER }]),
    ],
  };
}

/** Whether messages only leave for simulators, whose reports are polled soon. */
export function isSimulated({ CARRIER, EMAIL_CARRIER, written }: Environment): boolean {
  const types = written
    ? Object.values(written.carriers).map(({ type }) => type)
    : [CARRIER as string];
  return types.every((type) => type === 'simulator') && EMAIL_CARRIER !== 'http';
}
