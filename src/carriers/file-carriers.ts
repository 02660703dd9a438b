import { checkRoutes, MessagingConfigError, rateOf, type Route } from '@dundun/messaging';
import { type Environment, EnvironmentError } from '../config/environment.js';
import { weaknessOf } from '../config/variables.js';
import { voiceProviderOf } from '../config/voice-provider.js';
import type { Carrier, CarrierSetting, CarrierType, PhoneNumberIdOf } from './carrier-type.js';
import { CARRIER_TYPES } from './carrier-types.js';

/** Path of the callbacks of the carriers in the file: `callbacks/{carrier}`. */
export const FILE_CALLBACK_PATH = 'callbacks';

/** A carrier of `CARRIERS_FILE`. */
export interface FileCarrier extends Carrier {
  readonly name: string;
  readonly type: string;
  readonly rateLimit: ReturnType<typeof rateOf> | undefined;
  /** By the prefix of the recipient. */
  readonly prices: Readonly<Record<string, string>> | undefined;
  /** The settings as written, without secrets. */
  readonly shown: Readonly<Record<string, string>>;
}

export interface FileCarriers {
  readonly carriers: readonly FileCarrier[];
  readonly routes: readonly Route[];
}

/** Keys that every type has. */
const RATE_LIMIT = 'rate_limit';
const PRICES = 'prices';

/**
 * The carriers and routes of `CARRIERS_FILE`; `undefined`: there is no file.
 * @throws EnvironmentError naming each wrong key
 */
export function fileCarriers(
  environment: Environment,
  phoneNumberIdOf?: PhoneNumberIdOf,
): FileCarriers | undefined {
  const { written } = environment;
  if (!written) return undefined;
  const problems: string[] = [];
  const { EMAIL_CARRIER, VAS_CARRIER, WHATSAPP_CARRIER } = environment;
  for (const own of [EMAIL_CARRIER, VAS_CARRIER, WHATSAPP_CARRIER, voiceProviderOf(environment)])
    if (own !== undefined && Object.hasOwn(written.carriers, own))
      problems.push(
        `CARRIERS_FILE carriers.${own}: EMAIL_CARRIER, VAS_CARRIER, WHATSAPP_CARRIER or VOICE_CARRIER uses this name; give the carrier another one`,
      );
  const carriers = Object.entries(written.carriers).flatMap(([name, { type, settings }]) => {
    const key = `carriers.${name}`;
    if (!Object.hasOwn(CARRIER_TYPES, type)) {
      const known = Object.keys(CARRIER_TYPES).join(', ');
      problems.push(`CARRIERS_FILE ${key}.type: must be one of ${known}`);
      return [];
    }
    const of: CarrierType = CARRIER_TYPES[type as keyof typeof CARRIER_TYPES];
    const before = problems.length;
    const read = readSettings(key, of, settings, environment, problems);
    if (problems.length > before) return [];
    const callbackPath = `${FILE_CALLBACK_PATH}/${name}`;
    const place = { callbackPath, environment, phoneNumberIdOf };
    const { rateLimit, prices, values, shown } = read;
    try {
      return [{ name, type, rateLimit, prices, shown, ...of.make(values as never, place) }];
    } catch (error) {
      if (!(error instanceof MessagingConfigError)) throw error;
      problems.push(`CARRIERS_FILE ${key}.${inSnakeCase(error.message)}`);
      return [];
    }
  });
  try {
    const priced = Object.entries(written.carriers).filter(([, { settings }]) => settings[PRICES]);
    checkRoutes(
      written.routes,
      Object.keys(written.carriers),
      priced.map(([name]) => name),
    );
  } catch (error) {
    if (!(error instanceof MessagingConfigError)) throw error;
    problems.push(`CARRIERS_FILE ${error.message}`);
  }
  if (problems.length > 0) throw new EnvironmentError(problems);
  return { carriers, routes: written.routes };
}

/** An error of a provider begins with its option, whose words are those of the key. */
function inSnakeCase(message: string): string {
  return message.replace(/^\w+(?=:)/, (option) =>
    option.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
}

function readSettings(
  key: string,
  { settings: known }: CarrierType,
  written: Readonly<Record<string, string>>,
  { NODE_ENV }: Environment,
  problems: string[],
) {
  const refuse = (name: string, rule: string) =>
    void problems.push(`CARRIERS_FILE ${key}.${name}: ${rule}`);
  const values: Record<string, unknown> = {};
  const shown: Record<string, string> = {};
  const names = [...Object.keys(known), RATE_LIMIT, PRICES];
  for (const name of Object.keys(written))
    if (!names.includes(name))
      refuse(name, `there is no such key; there are type, ${names.join(', ')}`);
  for (const [name, setting] of Object.entries<CarrierSetting<unknown>>(known)) {
    const value = written[name] || setting.default;
    if (value === undefined) {
      if (!setting.optional) refuse(name, 'is missing');
      continue;
    }
    try {
      values[name] = setting.parse(value);
    } catch (error) {
      refuse(name, (error as Error).message);
    }
    const weakness =
      NODE_ENV === 'production' && setting.secret && written[name]
        ? weaknessOf(value, setting.secret)
        : undefined;
    if (weakness) refuse(name, weakness);
    shown[name] = setting.secret ? '(secret)' : value;
  }
  let rateLimit: ReturnType<typeof rateOf> | undefined;
  const rate = written[RATE_LIMIT];
  if (rate !== undefined)
    try {
      rateLimit = rateOf('', rate);
      shown[RATE_LIMIT] = rate;
    } catch {
      refuse(RATE_LIMIT, 'must be messages per time; write it as 50/s, 600/m or 10000/h');
    }
  let prices: Record<string, string> | undefined;
  const table = written[PRICES];
  if (table) {
    const pairs = table
      .split(/[\s,]+/)
      .map((pair) => /^(\+?\d{1,15}|\*)=(\d{1,15}(?:\.\d{1,12})?)$/.exec(pair));
    if (pairs.every((pair) => pair !== null)) {
      prices = Object.fromEntries(pairs.map(([, start = '', price = '']) => [start, price]));
      shown[PRICES] = table;
    } else refuse(PRICES, 'must be prefixes of numbers with prices; write 234=0.0030 *=0.02');
  }
  return { values, shown, rateLimit, prices };
}
