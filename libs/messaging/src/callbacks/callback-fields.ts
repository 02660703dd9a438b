import type { DeliveryReport, InboundMessage } from '../message/events.js';
import { identifier, moment, own } from '../message/report-fields.js';
import type { CallbackRequest, ParsedCallback } from '../ports/callback-parser.js';
import { requireBodyType, UnreadableCallbackError } from './callback-body.js';

/** Names of a field; the first with a value counts. `status.name` reads a nested field. */
export type FieldName = string | readonly string[];

/** Format of a time; `offset`: date and time with a zone, `utc`: without a zone. */
export type TimeFormat = 'offset' | 'utc' | 'epoch-seconds' | 'epoch-milliseconds';

/** Selects the entries of one kind; all others are skipped. */
export interface EntryFilter {
  /** Entries with other values in these fields are events of another kind. */
  readonly only?: Readonly<Record<string, string>>;
  /** Entries that have one of these fields, or for which it is true, are events of another kind. */
  readonly except?: FieldName | ((entry: object) => boolean);
}

export function selects({ only = {}, except = [] }: EntryFilter, entry: object): boolean {
  const isOther = Object.entries(only).some(([name, value]) => {
    const [given] = valuesOf(entry, name);
    return given !== undefined && given !== value;
  });
  if (isOther) return false;
  return typeof except === 'function' ? !except(entry) : valuesOf(entry, except).length === 0;
}

/** Most entries of a callback: a megabyte of more of them has no room for reports. */
const MOST_ENTRIES = 50_000;

/**
 * Reads the entries of a POST's body or of a GET's query, as an array or as one object.
 * @param read returns the reason why it cannot read an entry, or `undefined` to skip the entry
 * @param lists fields of the entries with lists of entries, which replace the entry
 * @param takes whether an entry, or the lists in it, are read
 * @throws UnreadableCallbackError where the callback has no entry, or more than 50,000
 * @throws UnsupportedCallbackTypeError
 */
export function readEntries(
  request: CallbackRequest,
  read: (entry: object) => DeliveryReport | InboundMessage | string | undefined,
  lists: FieldName = [],
  takes: (entry: object) => boolean = () => true,
): ParsedCallback {
  const content = request.method === 'GET' ? request.query : request.body;
  const outer = isObject(content) && Object.keys(content).length > 0 ? [content] : content;
  if (!Array.isArray(outer)) {
    requireBodyType(request);
    throw new UnreadableCallbackError('no JSON object, array or form');
  }
  if (outer.length > MOST_ENTRIES) throw new UnreadableCallbackError('too many entries');
  const isTaken = (entry: unknown) => !isObject(entry) || takes(entry);
  const entries: unknown[] = [];
  for (const entry of outer.filter(isTaken)) {
    const inner = valuesOf(entry, lists);
    if (inner.length === 0) entries.push(entry);
    else for (const one of inner.flat()) if (isTaken(one)) entries.push(one);
    if (entries.length > MOST_ENTRIES) throw new UnreadableCallbackError('too many entries');
  }
  const reports: DeliveryReport[] = [];
  const messages: InboundMessage[] = [];
  const errors: string[] = [];
  entries.forEach((entry, index) => {
    const one = isObject(entry) ? read(entry) : 'not an object';
    if (typeof one === 'string') errors.push(`entry ${index}: ${one}`);
    else if (one && 'rawStatus' in one) reports.push(one);
    else if (one) messages.push(one);
  });
  return { reports, messages, errors };
}

export function isObject(entry: unknown): entry is object {
  return typeof entry === 'object' && entry !== null && !Array.isArray(entry);
}

export function first<T>(
  entry: object,
  field: FieldName | undefined,
  read: (value: unknown) => T | null,
): T | null {
  const found = valuesOf(entry, field ?? []).map(read);
  return found.find((value) => value !== null) ?? null;
}

export function valuesOf(entry: unknown, field: FieldName): unknown[] {
  const values: unknown[] = [];
  for (const name of typeof field === 'string' ? [field] : field) {
    const value = inside(entry, name);
    if (value !== undefined && value !== null) values.push(value);
  }
  return values;
}

function inside(entry: unknown, name: string): unknown {
  const found = own(entry, name);
  const dot = name.indexOf('.');
  if (found !== undefined || dot < 0) return found;
  return inside(own(entry, name.slice(0, dot)), name.slice(dot + 1));
}

/** Some providers' ids are numbers; one that lost digits in JSON identifies no message. */
export function idOf(value: unknown): string | null {
  return identifier(Number.isSafeInteger(value) ? String(value) : value);
}

export function timeOf(value: unknown, format: TimeFormat = 'offset'): Date | null {
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
