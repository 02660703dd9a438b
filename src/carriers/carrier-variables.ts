import type { Route } from '@dundun/messaging';
import { oneOf } from '../settings/parsers.js';
import { missingVariable, type Setting, wrongVariable } from '../settings/setting.js';
import { type CarrierSetting, SHARED_SETTINGS } from './carrier-type.js';
import { CARRIER_TYPES, type CarrierTypeName } from './carrier-types.js';
import { named, type Origin, type Source, type Written, type WrittenCarrier } from './written.js';

/** A variable that chooses a carrier, by the words for its type. */
interface Chooser {
  /** The channel that the carrier takes; of `CARRIER` the least that it carries. */
  readonly channel: string;
  readonly types: Readonly<Record<string, CarrierTypeName>>;
  readonly default?: string;
  /** The choice where the variable is not set and `CARRIER` is the simulator. */
  readonly simulated?: string;
}

const MAIN = 'CARRIER';

const CHOOSERS: Readonly<Record<string, Chooser>> = {
  [MAIN]: {
    channel: 'sms',
    default: 'simulator',
    types: { simulator: 'simulator', http: 'http', kannel: 'kannel', smpp: 'smpp' },
  },
  EMAIL_CARRIER: {
    channel: 'email',
    types: {
      simulator: 'simulator',
      smtp: 'smtp',
      http: 'http',
      resend: 'resend',
      postmark: 'postmark',
      sendgrid: 'sendgrid',
      ses: 'ses',
    },
  },
  VOICE_CARRIER: {
    channel: 'voice',
    types: { simulator: 'voice-simulator', http: 'http', twilio: 'twilio-voice' },
    simulated: 'simulator',
  },
  WHATSAPP_CARRIER: { channel: 'whatsapp', types: { 'whatsapp-cloud': 'whatsapp-cloud' } },
  VAS_CARRIER: {
    channel: 'vas',
    types: { simulator: 'simulator', http: 'http', reloadly: 'reloadly' },
  },
};

/** Names of carriers that are not those of their types. */
const NAMES: Partial<Record<CarrierTypeName, string>> = { 'twilio-voice': 'twilio' };

/** The types whose keys are variables too, which begin so: `KANNEL_URL` is `url` of `kannel`. */
const PREFIXES: Partial<Record<CarrierTypeName, string>> = {
  http: 'CARRIER',
  kannel: 'KANNEL',
  smpp: 'SMPP',
  smtp: 'SMTP',
  resend: 'RESEND',
  postmark: 'POSTMARK',
  sendgrid: 'SENDGRID',
  ses: 'SES',
  'twilio-voice': 'TWILIO',
  'whatsapp-cloud': 'WHATSAPP_CLOUD',
  reloadly: 'RELOADLY',
};

const PREFIXED = Object.keys(PREFIXES) as readonly CarrierTypeName[];

function variableOf(type: CarrierTypeName, key: string): string | undefined {
  // Whatever its type, the carrier of `CARRIER` has it.
  if (key === 'rate_limit') return 'CARRIER_RATE_LIMIT';
  const prefix = PREFIXES[type];
  return prefix && `${prefix}_${key.toUpperCase()}`;
}

/** A key of a type that a variable is short for. */
interface CarrierKey {
  /** `undefined`: the type that `CARRIER` chooses. */
  readonly type?: CarrierTypeName;
  readonly key: string;
  readonly setting: CarrierSetting<unknown>;
}

/** By the names of the variables. */
export const CARRIER_KEYS: Readonly<Record<string, CarrierKey>> = Object.fromEntries([
  ...PREFIXED.flatMap((type) =>
    Object.entries<CarrierSetting<unknown>>(CARRIER_TYPES[type].settings).map(
      ([key, setting]): [string, CarrierKey] => [
        variableOf(type, key) ?? key,
        { type, key, setting },
      ],
    ),
  ),
  ['CARRIER_RATE_LIMIT', { key: 'rate_limit', setting: SHARED_SETTINGS.rate_limit }],
]);

/** The variables that choose carriers. */
export const CARRIER_CHOOSERS: Readonly<Record<string, Setting<string>>> = Object.fromEntries(
  Object.entries(CHOOSERS).map(([name, { types, default: usual }]) => [
    name,
    { parse: oneOf(...Object.keys(types)), ...(usual !== undefined && { default: usual }) },
  ]),
);

/** A choice such as `EMAIL_CARRIER=smtp`. */
interface Choice {
  readonly chooser: string;
  readonly word: string;
  readonly type: CarrierTypeName;
}

function choicesIn(source: Source, hasFile: boolean): readonly Choice[] {
  const main = hasFile ? undefined : source[MAIN] || CHOOSERS[MAIN]?.default;
  return Object.entries(CHOOSERS).flatMap(([chooser, { types, simulated }]) => {
    const usual = main === 'simulator' ? simulated : undefined;
    const word = chooser === MAIN ? main : source[chooser] || usual;
    // A wrong word is a problem of the variable.
    const type = word !== undefined && Object.hasOwn(types, word) ? types[word] : undefined;
    return word !== undefined && type !== undefined ? [{ chooser, word, type }] : [];
  });
}

/**
 * The variables in the form of `CARRIERS_FILE`: a carrier for each type that they choose, and a rule for
 * each channel with a carrier of its own, before the one of `CARRIER`.
 * @param hasFile `CARRIERS_FILE` takes the place of `CARRIER`
 */
export function writtenInVariables(
  source: Source,
  hasFile: boolean,
): Written & { readonly unused: readonly WrittenCarrier[] } {
  const choices = choicesIn(source, hasFile);
  const typeOfMain = choices.find(({ chooser }) => chooser === MAIN)?.type;
  const nameOf = (type: CarrierTypeName) => NAMES[type] ?? type;
  const written = (type: CarrierTypeName): WrittenCarrier => ({
    name: nameOf(type),
    type,
    settings: Object.fromEntries(
      [
        ...Object.keys(CARRIER_TYPES[type].settings),
        ...(type === typeOfMain ? ['rate_limit'] : []),
      ].flatMap((key) => {
        const value = source[variableOf(type, key) ?? ''];
        return value ? [[key, value]] : [];
      }),
    ),
    role: type === typeOfMain ? 'main' : 'beside',
    origin: originOf(
      type,
      choices.filter((choice) => choice.type === type),
    ),
  });
  const chosen = new Set(choices.map(({ type }) => type));
  const beside = choices.filter(({ type }) => type !== typeOfMain);
  return {
    carriers: [...chosen].map(written),
    routes: [
      ...beside.map(({ chooser, type }): Route => {
        return { channel: CHOOSERS[chooser]?.channel, use: nameOf(type) };
      }),
      ...(typeOfMain ? [{ use: nameOf(typeOfMain) }] : []),
    ],
    unused: PREFIXED.filter((type) => !chosen.has(type)).map(written),
  };
}

/** The variable that gives a channel a carrier of its own. */
export function chooserOf(channel: string | undefined): string | undefined {
  return Object.keys(CHOOSERS).find((name) => CHOOSERS[name]?.channel === channel);
}

function originOf(type: CarrierTypeName, choices: readonly Choice[]): Origin {
  const nameOf = (key: string) => variableOf(type, key);
  const place = choices.map(({ chooser, word }) => `${chooser}=${word}`)[0] ?? type;
  return {
    place,
    wrong: (key, rule, value) =>
      wrongVariable(nameOf(key) ?? `${place} ${key}`, value, named(rule, nameOf)),
    missing: (key, { optional, carries = [], remedy }) => {
      const choice = choices.find(
        ({ chooser }) => !optional || carries.includes(CHOOSERS[chooser]?.channel ?? ''),
      );
      if (choice === undefined) return undefined;
      const { chooser, word } = choice;
      const usual = CHOOSERS[chooser]?.default;
      return missingVariable(nameOf(key) ?? key, `${chooser}=${word}`, remedy, usual);
    },
  };
}
