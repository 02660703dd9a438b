import {
  type CappedCategory,
  type FrequencyCapOptions,
  isMessageCategory,
  type MessageCategory,
  milliseconds,
  type PriceList,
  type QuietHoursOptions,
  rateOf,
} from '@dundun/messaging';

/** An environment variable: its parser, and its description for the documentation. */
export interface Variable<T> {
  /** The default as written in the environment; without one the variable may stay unset. */
  readonly default?: string;
  /** @throws Error whose message follows the variable's name: `must be …; write …`. */
  readonly parse: (value: string) => T;
  readonly description: string;
  /** The value is never shown, not even in errors. */
  readonly secret?: true;
}

/** A variable with a default, which always has a value. */
export interface RequiredVariable<T> extends Variable<T> {
  readonly default: string;
}

/** Infers the type of a variable with a default. */
export function required<T>(variable: RequiredVariable<T>): RequiredVariable<T> {
  return variable;
}

/** Infers the type of a variable that may stay unset. */
export function optional<T>(variable: Omit<Variable<T>, 'default'>): Omit<
  Variable<T>,
  'default'
> & {
  readonly default?: undefined;
} {
  return variable;
}

export function oneOf<T extends string>(...allowed: readonly T[]): (value: string) => T {
  return (value) => {
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`);
    return found;
  };
}

export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const parsed = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(parsed >= min && parsed <= max))
      throw new Error(`must be a whole number from ${min} to ${max}`);
    return parsed;
  };
}

export function flag(value: string): boolean {
  return oneOf('true', 'false')(value) === 'true';
}

export function host(value: string): string {
  if (!/^[0-9A-Za-z.:_-]+$/.test(value))
    throw new Error('must be a host name or address to listen on, such as 127.0.0.1 or 0.0.0.0');
  return value;
}

export function httpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new Error('must be an address such as https://sms.example.com');
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    throw new Error('must be an address without user, query or fragment');
  return value;
}

/** Errors do not show the value, which may hold a password. */
export function redisUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if ((url?.protocol !== 'redis:' && url?.protocol !== 'rediss:') || url.hostname === '')
    throw new Error('is no Redis address; write redis://user:password@host:6379/0 or rediss://…');
  if (!/^(?:\/\d{0,5})?$/.test(url.pathname))
    throw new Error('names no database; after the host comes its number, such as /0, or nothing');
  return value;
}

/** Parses a duration of the library's grammar, such as `30s`, `500ms` or `2m`, to milliseconds. */
export function duration(min: number, max: number): (value: string) => number {
  return (value) => {
    const parsed = durationOf(value);
    if (parsed === undefined || parsed < min || parsed > max)
      throw new Error(
        `must be a duration from ${min / 1_000}s to ${max / 1_000}s; write it as 30s, 500ms or 2m`,
      );
    return parsed;
  };
}

/** Parses a retention to milliseconds; `off` becomes `undefined`: unlimited. */
export function retention(value: string): number | undefined {
  if (value === 'off') return undefined;
  const parsed = durationOf(value);
  if (parsed === undefined || parsed < 60_000)
    throw new Error('must be a duration of at least 1m; write it as 30d or 12h, or off');
  return parsed;
}

function durationOf(value: string): number | undefined {
  try {
    return milliseconds('', value);
  } catch {
    return undefined;
  }
}

export interface Rate {
  readonly max: number;
  /** Milliseconds. */
  readonly per: number;
}

/** Parses `50/s`, `600/m`, `10000/h`. */
export function rate(value: string): Rate {
  try {
    return rateOf('', value);
  } catch {
    throw new Error('must be messages per time; write it as 50/s, 600/m or 10000/h');
  }
}

/** Parses a {@link rate}, or `off`. */
export function rateOrOff(value: string): Rate | undefined {
  if (value === 'off') return undefined;
  try {
    return rate(value);
  } catch {
    throw new Error('must be requests per time; write it as 50/s, 600/m or 10000/h, or off');
  }
}

/**
 * Parses `USD utility=0.01 marketing=0.05`, with categories in any order; omitted categories have
 * no price.
 */
export function prices(value: string): PriceList {
  const [currency = '', ...entries] = value.split(/\s+/);
  const whatsapp = new Map<MessageCategory, string>();
  for (const entry of entries) {
    const [, category, amount] = /^([a-z]+)=(\d{1,9}(?:\.\d{1,6})?)$/.exec(entry) ?? [];
    if (!isMessageCategory(category) || amount === undefined || whatsapp.has(category))
      return wrongPrices();
    whatsapp.set(category, amount);
  }
  if (!/^[A-Z]{3}$/.test(currency)) return wrongPrices();
  return { currency, whatsapp: Object.fromEntries(whatsapp) };
}

function wrongPrices(): never {
  throw new Error(
    'must be a currency and prices by category; write it as USD utility=0.01 marketing=0.05 authentication=0.02 service=0',
  );
}

/** Parses `21:00-08:00`. */
export function quietHours(value: string): QuietHoursOptions {
  const [, from = '', to = ''] =
    /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/.exec(value) ?? [];
  if (from === to) throw new Error('must be two different times of day; write it as 21:00-08:00');
  return { from, to };
}

const CATEGORIES: readonly CappedCategory[] = [
  'sms',
  'utility',
  'marketing',
  'authentication',
  'service',
];

/** Parses `marketing=2/7d sms=5/24h`: a {@link rate} by category, over at least a minute. */
export function frequencyCap(value: string): FrequencyCapOptions {
  const caps = new Map<CappedCategory, Rate>();
  for (const entry of value.split(/\s+/)) {
    const [, name, limit = ''] = /^([a-z]+)=(.*)$/.exec(entry) ?? [];
    const category = CATEGORIES.find((one) => one === name);
    const cap = capOf(limit);
    if (category === undefined || caps.has(category) || !cap)
      throw new Error(
        `must be messages per time by category (${CATEGORIES.join(', ')}); write it as marketing=2/7d sms=5/24h`,
      );
    caps.set(category, cap);
  }
  return Object.fromEntries(caps);
}

function capOf(limit: string): Rate | undefined {
  try {
    const cap = rateOf('', limit);
    return cap.per < 60_000 ? undefined : cap;
  } catch {
    return undefined;
  }
}

/** Parses `4MiB`, `512KiB`, `1000B` to bytes. */
export function size(min: number, max: number): (value: string) => number {
  return (value) => {
    const match = /^(\d{1,9})(B|KiB|MiB)$/.exec(value);
    const parsed = match ? Number(match[1]) * BYTES[match[2] as 'B'] : Number.NaN;
    if (!(parsed >= min && parsed <= max))
      throw new Error(
        `must be a size from ${min / BYTES.KiB}KiB to ${max / BYTES.MiB}MiB; write it as 512KiB or 4MiB`,
      );
    return parsed;
  };
}

const BYTES = { B: 1, KiB: 1 << 10, MiB: 1 << 20 } as const;

/** A credential of another service, checked for common copy-and-paste errors. */
export function credential(value: string): string {
  if (/^bearer\s/i.test(value))
    throw new Error('must be the token alone; leave the word Bearer out');
  if (/\s/.test(value))
    throw new Error('holds a space or a line break, copied with it perhaps; write the token alone');
  return value;
}

/** An API token of a service with this interface. */
export function apiToken(value: string): string {
  if (value.startsWith('svk_'))
    throw new Error('is an svk_ key, which SMS does not take; write it as CARRIER_KEY');
  return visible(credential(value));
}

/** A key of a service with this interface. */
export function apiKey(value: string): string {
  if (!credential(value).startsWith('svk_'))
    throw new Error('must start with svk_; the API token is written as CARRIER_TOKEN');
  return visible(value);
}

/** The URL of a service with this interface. */
export function serviceUrl(value: string): string {
  const { pathname } = new URL(httpUrl(value));
  if (/\/ng\/v1\b/.test(pathname))
    throw new Error('holds the path of an operation; write the address before /ng/v1');
  return value;
}

/** A header value without spaces. */
export function visible(value: string): string {
  if (!/^[\x21-\x7e]+$/.test(value))
    throw new Error(
      'must be printable ASCII without spaces or line breaks; one was copied with it perhaps',
    );
  return value;
}

/** A secret of this gateway. */
export function secretText(value: string): string {
  if (!/^\S{16,}$/.test(value))
    throw new Error(
      'must be at least 16 characters without spaces; openssl rand -hex 32 makes one',
    );
  return value;
}

/** A Standard Webhooks signing secret. */
export function signingSecret(value: string): string {
  const bytes = /^whsec_([0-9A-Za-z+/]+={0,2})$/.exec(value)?.[1];
  const length = bytes === undefined ? 0 : Buffer.from(bytes, 'base64').length;
  if (length < 24 || length > 64)
    throw new Error('must be whsec_ and 24 to 64 bytes in base64, as the other service shows it');
  return value;
}
