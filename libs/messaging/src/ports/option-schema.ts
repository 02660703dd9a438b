import { MessagingConfigError } from '../message/errors.js';
import { type Duration, milliseconds } from './duration.js';

/**
 * Checks one option and fills in its default.
 * @throws MessagingConfigError naming the option and the remedy
 */
export type OptionReader<T> = (name: string, value: unknown) => T;

type Readers = Readonly<Record<string, OptionReader<unknown>>>;

/** Values that a group of readers returns. */
export type ReadOptions<R extends Readers> = { readonly [K in keyof R]: ReturnType<R[K]> };

/** A group of options that refuses unknown names; a missing group counts as empty. */
export function group<R extends Readers>(readers: R): OptionReader<ReadOptions<R>> {
  return (name, value = {}) => {
    if (!isPlainObject(value)) return wrong(name, value, 'must be an object of options');
    for (const key of Object.keys(value))
      if (!Object.hasOwn(readers, key))
        throw new MessagingConfigError(
          `${pathOf(name, key)}: there is no such option${suggestion(key, Object.keys(readers), name)}`,
        );
    return Object.fromEntries(
      Object.entries(readers).map(([key, read]) => [key, read(pathOf(name, key), value[key])]),
    ) as ReadOptions<R>;
  };
}

/** Options of one type, under names that the app chooses. */
export function record<T>(read: OptionReader<T>): OptionReader<Readonly<Record<string, T>>> {
  return (name, value = {}) => {
    if (!isPlainObject(value)) return wrong(name, value, 'must be an object');
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, read(pathOf(name, key), one)]),
    );
  };
}

/** An option that may be missing. */
export function optional<T>(read: OptionReader<T>): OptionReader<T | undefined> {
  return (name, value) => (value === undefined ? undefined : read(name, value));
}

export function withDefault<T>(read: OptionReader<T>, otherwise: unknown): OptionReader<T> {
  return (name, value) => read(name, value === undefined ? otherwise : value);
}

/** A {@link Duration}, in milliseconds. */
export function duration(least = 0): OptionReader<number> {
  return (name, value) => {
    const parsed = milliseconds(name, value as Duration);
    if (parsed < least) throw new MessagingConfigError(`${name}: must be at least ${least} ms`);
    return parsed;
  };
}

export function wholeNumber(least = 1): OptionReader<number> {
  return (name, value) =>
    Number.isSafeInteger(value) && Number(value) >= least
      ? Number(value)
      : wrong(name, value, `must be a whole number of at least ${least}`);
}

export const flag: OptionReader<boolean> = (name, value) =>
  typeof value === 'boolean' ? value : wrong(name, value, 'must be true or false');

export const text: OptionReader<string> = (name, value) =>
  typeof value === 'string' ? value : wrong(name, value, 'must be a text');

export function oneOf<T extends string>(...allowed: readonly T[]): OptionReader<T> {
  return (name, value) =>
    allowed.find((one) => one === value) ??
    wrong(name, value, `must be ${allowed.map((one) => `'${one}'`).join(' or ')}`);
}

/** A function; the compiler checks its type. */
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

export function list<T>(read: OptionReader<T>): OptionReader<readonly T[]> {
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

function suggestion(given: string, known: readonly string[], name: string): string {
  const [nearest] = known
    .map((one) => ({ one, edits: editDistance(given.toLowerCase(), one.toLowerCase()) }))
    .filter(({ one, edits }) => edits <= Math.max(1, Math.floor(one.length / 3)))
    .sort((a, b) => a.edits - b.edits);
  return nearest
    ? `; did you mean ${pathOf(name, nearest.one)}?`
    : `; there are ${known.join(', ')}`;
}

/** Levenshtein distance of two names. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]),
        ),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}
