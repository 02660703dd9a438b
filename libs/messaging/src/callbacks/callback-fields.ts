import { identifier, moment, own } from '../message/report-fields.js';
import type { CallbackRequest } from '../ports/delivery-report-parser.js';

/** The body has no form that a callback can have. */
export class UnreadableCallbackError extends Error {
  constructor(message: string) {
    super(message);
    this.name = UnreadableCallbackError.name;
  }
}

/**
 * Entries of a callback: those of a POST's body or of a GET's query, as an array or as one object.
 * @throws UnreadableCallbackError where the callback has no entry
 */
export function callbackEntries({ method, query, body }: CallbackRequest): readonly unknown[] {
  return entriesOf(method === 'GET' ? query : body);
}

function entriesOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  if (typeof content === 'object' && content !== null && Object.keys(content).length > 0)
    return [content];
  throw new UnreadableCallbackError('no JSON object, array or form');
}

/** One or several names of a field; the first name with a value counts. `status.name` reads a nested field. */
export type FieldName = string | readonly string[];

/** Format of a time; `offset`: date and time with a zone, `utc`: without a zone. */
export type TimeFormat = 'offset' | 'utc' | 'epoch-seconds' | 'epoch-milliseconds';

/** Selects the entries of a callback that a map reads; all others are skipped. */
export interface EntryMap {
  /** Field that holds the list of entries, such as `results`. @default the body is the entry, or an array of entries */
  readonly entries?: FieldName;
  /** Entries with other values in these fields are events of another kind. */
  readonly only?: Readonly<Record<string, string>>;
  /** Entries that have one of these fields are events of another kind. */
  readonly except?: FieldName;
}

/**
 * Reads each entry of a callback that the map selects; a string gives the reason why an entry could not be read.
 * @throws UnreadableCallbackError where the callback has no entry
 */
export function readEntries<T extends object>(
  request: CallbackRequest,
  map: EntryMap,
  read: (entry: object) => T | string | undefined,
): { readonly found: T[]; readonly errors: string[] } {
  const found: T[] = [];
  const errors: string[] = [];
  listOf(callbackEntries(request), map).forEach((entry, index) => {
    if (isOther(entry, map)) return;
    const one = isObject(entry) ? read(entry) : 'not an object';
    if (typeof one === 'string') errors.push(`entry ${index}: ${one}`);
    else if (one) found.push(one);
  });
  return { found, errors };
}

/** The entries in the field `map.entries`, or the given entries where they have no such field. */
function listOf(entries: readonly unknown[], map: EntryMap): readonly unknown[] {
  const { entries: field } = map;
  if (field === undefined) return entries;
  return entries.flatMap((entry) => {
    const lists = isOther(entry, map) ? [] : valuesOf(entry, field);
    return lists.length > 0 ? lists.flat() : [entry];
  });
}

function isOther(entry: unknown, { only = {}, except = [] }: EntryMap): boolean {
  if (!isObject(entry)) return false;
  const otherwise = Object.entries(only).some(([name, value]) => {
    const [given] = valuesOf(entry, name);
    return given !== undefined && given !== value;
  });
  return otherwise || valuesOf(entry, except).length > 0;
}

function isObject(entry: unknown): entry is object {
  return typeof entry === 'object' && entry !== null && !Array.isArray(entry);
}

/** Returns the first value of the field that `read` accepts. */
export function first<T>(
  entry: object,
  field: FieldName | undefined,
  read: (value: unknown) => T | null,
): T | null {
  if (field === undefined) return null;
  for (const value of valuesOf(entry, field)) {
    const found = read(value);
    if (found !== null) return found;
  }
  return null;
}

/** Values of the named fields, in the order of the names. */
export function valuesOf(entry: unknown, field: FieldName): unknown[] {
  return (typeof field === 'string' ? [field] : field).flatMap((name) => {
    const value = inside(entry, name);
    return value === undefined || value === null ? [] : [value];
  });
}

function inside(entry: unknown, name: string): unknown {
  if (typeof entry !== 'object' || entry === null) return undefined;
  if (Object.hasOwn(entry, name)) return own(entry, name);
  const dot = name.indexOf('.');
  return dot < 0 ? undefined : inside(own(entry, name.slice(0, dot)), name.slice(dot + 1));
}

/** Reads an id. Some providers' ids are numbers; a number that lost digits in JSON identifies no message. */
export function idOf(value: unknown): string | null {
  return identifier(Number.isSafeInteger(value) ? String(value) : value);
}

export function timeOf(value: unknown, format: TimeFormat): Date | null {
  switch (format) {
    case 'offset':
      return moment(value);
    case 'utc':
      return moment(value) ?? moment(`${typeof value === 'string' ? value : ''}Z`);
    case 'epoch-seconds':
      return sinceEpoch(value, 1_000);
    case 'epoch-milliseconds':
      return sinceEpoch(value, 1);
  }
}

function sinceEpoch(value: unknown, unit: number): Date | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number') return null;
  const time = new Date(number * unit);
  return Number.isNaN(time.getTime()) ? null : time;
}
