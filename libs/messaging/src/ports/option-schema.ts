import { MessagingConfigError } from '../message/errors.js';
import { type Duration, milliseconds } from './duration.js';

/**
 * Checks one option: the caller writes `Given`, the library uses `Read`.
 * @throws MessagingConfigError naming the option and the remedy
 */
export interface OptionReader<Read, Given = Read> {
  (name: string, value: unknown): Read;
  /** Exists only as a type. */
  readonly given?: readonly [Given];
}

type Readers = Readonly<Record<string, OptionReader<unknown>>>;
type GivenOf<R> = R extends OptionReader<unknown, infer Given> ? Given : never;

export type OptionsOf<R extends Readers> = {
  readonly [K in keyof R as undefined extends GivenOf<R[K]> ? K : never]?: GivenOf<R[K]>;
} & { readonly [K in keyof R as undefined extends GivenOf<R[K]> ? never : K]: GivenOf<R[K]> };

export type SettingsOf<R extends Readers> = { readonly [K in keyof R]: ReturnType<R[K]> };

/** A group of options that refuses unknown names; a missing group counts as empty. */
export function group<R extends Readers>(
  readers: R,
): OptionReader<SettingsOf<R>, OptionsOf<R> | undefined> & { readonly readers: R } {
  const read = (name: string, value: unknown = {}) => {
    if (!isPlainObject(value)) return wrong(name, value, 'must be an object of options');
    for (const key of Object.keys(value))
      if (!Object.hasOwn(readers, key))
        throw new MessagingConfigError(
          `${pathOf(name, key)}: there is no such option${suggestion(key, readers, name)}`,
        );
    return Object.fromEntries(
      Object.entries(readers).map(([key, one]) => [key, one(pathOf(name, key), value[key])]),
    ) as SettingsOf<R>;
  };
  return Object.assign(read, { readers });
}

export function record<T, Given>(
  read: OptionReader<T, Given>,
): OptionReader<Readonly<Record<string, T>>, Readonly<Record<string, NonNullable<Given>>>> {
  return (name, value) => {
    if (!isPlainObject(value)) return wrong(name, value, 'must be an object');
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, read(pathOf(name, key), one)]),
    );
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

export function duration(least = 0): OptionReader<number, Duration> {
  return (name, value) => {
    const parsed = milliseconds(name, value as Duration);
    if (parsed < least) throw new MessagingConfigError(`${name}: must be at least ${least} ms`);
    return parsed;
  };
}

export const wholeNumber: OptionReader<number> = (name, value) =>
  Number.isSafeInteger(value) && Number(value) >= 1
    ? Number(value)
    : wrong(name, value, 'must be a whole number of at least 1');

export const flag: OptionReader<boolean> = (name, value) =>
  typeof value === 'boolean' ? value : wrong(name, value, 'must be true or false');

export const text: OptionReader<string> = (name, value) =>
  typeof value === 'string' ? value : wrong(name, value, 'must be a text');

export function oneOf<T extends string>(...allowed: readonly T[]): OptionReader<T> {
  return (name, value) =>
    allowed.find((one) => one === value) ??
    wrong(name, value, `must be ${allowed.map((one) => `'${one}'`).join(' or ')}`);
}

export function callback<F>(): OptionReader<F> {
  return (name, value) =>
    typeof value === 'function' ? (value as F) : wrong(name, value, 'must be a function');
}

/** An object that another part of the library checks at boot. */
export function object<T extends object>(): OptionReader<T> {
  return (name, value) =>
    typeof value === 'object' && value !== null
      ? (value as T)
      : wrong(name, value, 'must be an object');
}

export function list<T, Given>(
  read: OptionReader<T, Given>,
): OptionReader<readonly T[], readonly NonNullable<Given>[]> {
  return (name, value) =>
    Array.isArray(value)
      ? value.map((one, n) => read(`${name}[${n}]`, one))
      : wrong(name, value, 'must be an array');
}

/** Names only the type of the value, which may be a misplaced secret. */
function wrong(name: string, value: unknown, rule: string): never {
  const given =
    typeof value === 'number' || typeof value === 'boolean' || value === null
      ? String(value)
      : Array.isArray(value)
        ? 'an array'
        : typeof value === 'object'
          ? 'an object'
          : `a ${typeof value}`;
  throw new MessagingConfigError(`${name}: ${rule}, and is ${given}`);
}

function pathOf(group: string, key: string): string {
  return group === '' ? key : `${group}.${key}`;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The options that begin like the given one, here or in the groups, else all of the group. */
function suggestion(given: string, readers: Readers, name: string): string {
  const known = Object.entries(readers).flatMap(([key, reader]) => [
    key,
    ...('readers' in reader ? Object.keys(reader.readers as Readers) : []).map(
      (inner) => `${key}.${inner}`,
    ),
  ]);
  const start = given.slice(0, 4).toLowerCase();
  const alike = known.filter((path) =>
    path
      .slice(path.lastIndexOf('.') + 1)
      .toLowerCase()
      .startsWith(start),
  );
  return alike.length > 0
    ? `; did you mean ${alike.map((path) => pathOf(name, path)).join(' or ')}?`
    : `; there are ${Object.keys(readers).join(', ')}`;
}
