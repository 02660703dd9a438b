import ms, { type StringValue } from 'ms';
import { MessagingConfigError } from '../message/errors.js';

/**
 * Checks one option: the caller writes `Given`, the library uses `Read`.
 * @throws MessagingConfigError naming the option and the remedy
 */
export interface OptionReader<Read, Given = Read> {
  (name: string, value: unknown): Read;
  /** Exists only as a type, which is that of the option exactly. */
  readonly given?: (value: Given) => Given;
}

/**
 * A reader for each option of `Options`: the interface is what the caller writes, with the docs, and the
 * table says how each option is read.
 * @example
 * const TWILIO = { accountSid: text, callbackUrl: optional(httpAddress) } satisfies ReadersOf<TwilioOptions>;
 */
export type ReadersOf<Options> = {
  readonly [K in keyof Options]-?: OptionReader<unknown, Options[K]>;
};

type Readers = Readonly<Record<string, (name: string, value: unknown) => unknown>>;
type GivenOf<R> = R extends OptionReader<unknown, infer Given> ? Given : never;

type OptionsOf<R extends Readers> = {
  readonly [K in keyof R as undefined extends GivenOf<R[K]> ? K : never]?: GivenOf<R[K]>;
} & { readonly [K in keyof R as undefined extends GivenOf<R[K]> ? never : K]: GivenOf<R[K]> };

export type SettingsOf<R extends Readers> = { readonly [K in keyof R]: ReturnType<R[K]> };

export const flag = ofType<boolean>('boolean', 'true or false');
export const text = ofType<string>('string', 'a text');
export const callback = <F>() => ofType<F>('function', 'a function');
/** An object that another part of the library checks at boot. */
export const object = <T extends object>() => ofType<T>('object', 'an object');

function ofType<T>(type: string, expected: string): OptionReader<T> {
  return (name, value) =>
    typeof value === type && value !== null
      ? (value as T)
      : wrong(name, value, `must be ${expected}`);
}

export const wholeNumber: OptionReader<number> = (name, value) =>
  Number.isSafeInteger(value) && Number(value) >= 1
    ? Number(value)
    : wrong(name, value, 'must be a whole number of at least 1');

/** A whole number of at least `least`, which may be 0. */
export function wholeNumberFrom(least: number): OptionReader<number> {
  return (name, value) => (value === least ? least : wholeNumber(name, value));
}

/** A secret key; the error omits the value. */
export const secretKey: OptionReader<Buffer, string> = (name, value) => {
  const key = Buffer.from(text(name, value), 'base64');
  if (key.length >= 32) return key;
  throw new MessagingConfigError(
    `${name}: must be at least 32 bytes in base64; make one with: openssl rand -base64 32`,
  );
};

/** A text of one form; the error omits the value, which may be a secret. */
export function textLike(form: RegExp, rule: string): OptionReader<string> {
  return (name, value) => {
    if (typeof value === 'string' && form.test(value)) return value;
    throw new MessagingConfigError(`${name}: must be ${rule}`);
  };
}

export function oneOf<T extends string>(...allowed: readonly T[]): OptionReader<T> {
  return (name, value) =>
    allowed.find((one) => one === value) ??
    wrong(name, value, `must be ${allowed.map((one) => `'${one}'`).join(' or ')}`);
}

/** `'500ms'`, `'30s'`, `'10m'`, `'24h'`, `'3d'`, `'2w'`, `'1y'`, or milliseconds. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd' | 'w' | 'y'}`;

/** In milliseconds; `undefined` for a value that is no positive duration. */
export function readDuration(value: unknown): number | undefined {
  // `ms` throws for a value that is no text, or too long a text.
  const isText = typeof value === 'string' && value.length > 0 && value.length <= 32;
  const parsed: unknown = isText ? ms(value as StringValue) : value;
  const isDuration = typeof parsed === 'number' && Number.isFinite(parsed) && parsed >= 0;
  return isDuration ? Math.round(parsed) : undefined;
}

/** @throws MessagingConfigError naming `option` where the value is no positive duration */
export function milliseconds(option: string, value: Duration): number {
  const parsed = readDuration(value);
  if (parsed === undefined)
    throw new MessagingConfigError(
      `${option}: ${JSON.stringify(value)} is no duration; write '30s', '10m', '24h' or milliseconds`,
    );
  return parsed;
}

export function duration(least = 0): OptionReader<number, Duration> {
  return (name, value) => {
    const parsed = milliseconds(name, value as Duration);
    if (parsed < least) throw new MessagingConfigError(`${name}: must be at least ${least} ms`);
    return parsed;
  };
}

export function optional<T, Given>(
  read: OptionReader<T, Given>,
): OptionReader<T | undefined, Given | undefined> {
  return (name, value) => (value === undefined ? undefined : read(name, value));
}

export function withDefault<T, Given>(
  read: OptionReader<T, Given>,
  otherwise: Given,
): OptionReader<T, Given | undefined> {
  return (name, value) => read(name, value === undefined ? otherwise : value);
}

export function list<T, Given>(
  read: OptionReader<T, Given>,
): OptionReader<readonly T[], readonly NonNullable<Given>[]> {
  return (name, value) =>
    Array.isArray(value)
      ? value.map((one, n) => read(`${name}[${n}]`, one))
      : wrong(name, value, 'must be an array');
}

export function record<T, Given>(
  read: OptionReader<T, Given>,
): OptionReader<Readonly<Record<string, T>>, Readonly<Record<string, NonNullable<Given>>>> {
  return (name, value) => {
    const entries = entriesOf(name, value, 'must be an object');
    return Object.fromEntries(entries.map(([key, one]) => [key, read(pathOf(name, key), one)]));
  };
}

/** Named, so that declarations write `readers` out once. */
export interface GroupReader<R extends Readers> extends OptionReader<
  SettingsOf<R>,
  OptionsOf<R> | undefined
> {
  readonly readers: R;
}

/** A group of options that refuses unknown names; a missing group counts as empty. */
export function group<R extends Readers>(readers: R): GroupReader<R> {
  const read = (name: string, value: unknown = {}) => {
    const given = new Map(entriesOf(name, value, 'must be an object of options'));
    for (const key of given.keys())
      if (!Object.hasOwn(readers, key))
        throw new MessagingConfigError(
          `${pathOf(name, key)}: there is no such option${suggestion(key, readers, name)}`,
        );
    return Object.fromEntries(
      Object.entries(readers).map(([key, one]) => [key, one(pathOf(name, key), given.get(key))]),
    ) as SettingsOf<R>;
  };
  return Object.assign(read, { readers });
}

/** At most `max` messages in any window of `per`. Options also take the form `'50/s'`. */
export interface RateLimit {
  readonly max: number;
  readonly per: Duration;
}

const RATE = { max: wholeNumber, per: duration(1) } satisfies ReadersOf<RateLimit>;

export const readRate = group(RATE);

/** `per` in milliseconds. */
type Rate = Readonly<Record<'max' | 'per', number>>;

/**
 * Reads `{ max: 50, per: '1s' }`, or `'50/s'`, `'600/m'`, `'2/7d'`; `per` becomes milliseconds.
 * @throws MessagingConfigError naming `option`
 */
export function rateOf(option: string, limit: RateLimit | string): Rate {
  if (typeof limit !== 'string') return readRate(option, limit);
  const [, max, per = ''] = /^(\d{1,9})\/(\d*[a-z]+)$/.exec(limit) ?? [];
  if (max === undefined)
    throw new MessagingConfigError(
      `${option}: ${JSON.stringify(limit.slice(0, 32))} is no rate; write '50/s', '600/m' or { max: 50, per: '1s' }`,
    );
  return readRate(option, {
    max: Number(max),
    per: (/^\d/.test(per) ? per : `1${per}`) as Duration,
  });
}

/** Names only the type of the value, which may be a misplaced secret. */
function wrong(name: string, value: unknown, rule: string): never {
  const isPlain = value == null || typeof value === 'number' || typeof value === 'boolean';
  const type = Array.isArray(value) ? 'array' : typeof value;
  const given = isPlain ? String(value) : `${/^[ao]/.test(type) ? 'an' : 'a'} ${type}`;
  throw new MessagingConfigError(`${name}: ${rule}, and is ${given}`);
}

function pathOf(group: string, key: string): string {
  return group === '' ? key : `${group}.${key}`;
}

function entriesOf(name: string, value: unknown, rule: string): [string, unknown][] {
  const isPlainObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isPlainObject ? Object.entries(value) : wrong(name, value, rule);
}

/** The options that begin like the given one, here or in the groups, else all of the group. */
function suggestion(given: string, readers: Readers, name: string): string {
  const known = Object.entries(readers).flatMap(([key, reader]) => {
    const inner = 'readers' in reader ? Object.keys(reader.readers as Readers) : [];
    return [key, ...inner.map((one) => `${key}.${one}`)];
  });
  const start = given.slice(0, 4).toLowerCase();
  const alike = known.filter((path) => path.replace(/^.*\./, '').toLowerCase().startsWith(start));
  return alike.length > 0
    ? `; did you mean ${alike.map((path) => pathOf(name, path)).join(' or ')}?`
    : `; there are ${Object.keys(readers).join(', ')}`;
}

export const DURATION = duration();
export const MOMENT = duration(1);

export const rateLimit: OptionReader<Rate, RateLimit | string> = (name, value) =>
  rateOf(name, value as RateLimit | string);
