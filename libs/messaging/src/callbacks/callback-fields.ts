import { identifier, moment, own } from '../message/report-fields.js';
import type { CallbackRequest } from '../ports/delivery-report-parser.js';

/** The body is nothing a callback could be. */
export class UnreadableCallbackError extends Error {
  constructor(message: string) {
    super(message);
    this.name = UnreadableCallbackError.name;
  }
}

/**
 * What a callback lists: a POST's body alone, a GET's query; an array's entries or the one object.
 * @throws UnreadableCallbackError where there is no entry at all.
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

/** One or several names of a field; the first that is there counts. `status.name` looks inside. */
export type FieldName = string | readonly string[];

/** How a time is written; `offset`: date and time with a zone, `utc`: without one. */
export type TimeFormat = 'offset' | 'utc' | 'epoch-seconds' | 'epoch-milliseconds';

/** Which entries of a callback a map speaks of; all others are passed over. */
export interface EntryMap {
  /** Where the list of entries is (`results`). @default the body is the entry, or an array of them */
  readonly entries?: FieldName;
  /** Entries that say otherwise are events of another kind. */
  readonly only?: Readonly<Record<string, string>>;
  /** Entries that have one of these are events of another kind. */
  readonly except?: FieldName;
}

/**
 * Reads each entry of a callback that the map speaks of; a string says why one could not be read.
 * @throws UnreadableCallbackError where there is no entry at all.
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

/** The entries behind `map.entries`, or, where there are none, the ones given. */
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

/** What `read` makes of the first value it can read. */
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

/** What is there under the names, in their order. */
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

/** Some providers' ids are numbers; one that lost digits on its way through JSON names nobody. */
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
