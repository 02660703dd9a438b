import type { DeliveryReport } from '../message/delivery-report.js';
import { MessagingConfigError } from '../message/errors.js';
import { identifier, moment, own, recipientNumber, word } from '../message/report-fields.js';
import { isReportedStatus, type ReportedStatus } from '../message/status.js';
import type { DeliveryReportParser, ParsedReports } from '../ports/delivery-report-parser.js';
import { callbackEntries } from './callback-entries.js';

/** One or several names of a field; the first that is there counts. `status.name` looks inside. */
export type FieldName = string | readonly string[];

/** Which field of a provider's callback says what. */
export interface FieldMap {
  /** Where the list of entries is (`results`). @default the body is the entry, or an array of them */
  readonly entries?: FieldName;
  /** The reference the submit was answered with. */
  readonly reference?: FieldName;
  /** The provider's id of the one message. */
  readonly messageId?: FieldName;
  readonly recipient?: FieldName;
  /** Where several are there, the first one that `statuses` knows decides; the first of all is kept raw. */
  readonly status: FieldName;
  /** The provider's words, in lower case, and what they mean here; others are kept raw and move nothing. */
  readonly statuses: Readonly<Record<string, ReportedStatus>>;
  /** What the word ends at, where more is written behind it. */
  readonly statusEnd?: string;
  readonly errorCode?: FieldName;
  /** Codes that say there was no error. */
  readonly noError?: readonly string[];
  /** When the network reported. */
  readonly time?: FieldName;
  /** How it is written; `offset`: date and time with a zone, `utc`: without one. @default 'offset' */
  readonly timeFormat?: 'offset' | 'utc' | 'epoch-seconds' | 'epoch-milliseconds';
  /** Entries that say otherwise are events of another kind and passed over. */
  readonly only?: Readonly<Record<string, string>>;
}

/**
 * Reads the callbacks of a provider by the names of their fields: JSON or form, one or many, POST or
 * GET. What has the wrong type counts as missing; an entry that names no message or no status is told
 * in `errors` and fails no other.
 *
 * @example
 * fieldMapParser({ messageId: 'id', recipient: 'msisdn', status: 'dlr', statuses: { ok: 'delivered' } })
 * @throws MessagingConfigError where the map cannot work.
 */
export function fieldMapParser(map: FieldMap): DeliveryReportParser {
  if (map.reference === undefined && map.messageId === undefined)
    throw new MessagingConfigError(
      'fields: reference or messageId must say what names the message',
    );
  const statuses = new Map<string, ReportedStatus>();
  for (const [theirs, ours] of Object.entries(map.statuses)) {
    if (!isReportedStatus(ours))
      throw new MessagingConfigError(`fields.statuses: ${String(ours)} is no status of a report`);
    statuses.set(theirs.toLowerCase(), ours);
  }
  return {
    parse: (request) => {
      const reports: DeliveryReport[] = [];
      const errors: string[] = [];
      listOf(callbackEntries(request), map.entries).forEach((entry, index) => {
        const report = readEntry(entry, map, statuses);
        if (typeof report === 'string') errors.push(`entry ${index}: ${report}`);
        else if (report) reports.push(report);
      });
      return { reports, errors } satisfies ParsedReports;
    },
  };
}

/** The entries behind `field`, or, where it is not there, the ones given. */
function listOf(entries: readonly unknown[], field: FieldName | undefined): readonly unknown[] {
  if (field === undefined) return entries;
  return entries.flatMap((entry) => {
    const [list] = valuesOf(entry, field);
    return Array.isArray(list) ? (list as unknown[]) : [list ?? entry];
  });
}

function readEntry(
  entry: unknown,
  map: FieldMap,
  statuses: ReadonlyMap<string, ReportedStatus>,
): DeliveryReport | string | undefined {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return 'not an object';
  for (const [name, value] of Object.entries(map.only ?? {})) {
    const [given] = valuesOf(entry, name);
    if (given !== undefined && given !== value) return undefined;
  }
  const reference = first(entry, map.reference, idOf);
  const messageId = first(entry, map.messageId, idOf);
  if (reference === null && messageId === null) return 'names no message';
  const words = valuesOf(entry, map.status).flatMap((value) => {
    const whole = word(value);
    const text = map.statusEnd === undefined ? whole : word(whole?.split(map.statusEnd, 1)[0]);
    return text === null ? [] : [text];
  });
  const [rawStatus] = words;
  if (rawStatus === undefined) return 'no status';
  const known = words.find((text) => statuses.has(text.toLowerCase()));
  const errorCode = first(entry, map.errorCode, word);
  return {
    reference,
    messageId,
    recipient: first(entry, map.recipient, recipientNumber),
    status: (known !== undefined && statuses.get(known.toLowerCase())) || null,
    rawStatus: known ?? rawStatus,
    errorCode: errorCode !== null && map.noError?.includes(errorCode) ? null : errorCode,
    providerTime: first(entry, map.time, (value) => timeOf(value, map.timeFormat ?? 'offset')),
  };
}

/** Some providers' ids are numbers; one that lost digits on its way through JSON names nobody. */
function idOf(value: unknown): string | null {
  return identifier(Number.isSafeInteger(value) ? String(value) : value);
}

function timeOf(value: unknown, format: NonNullable<FieldMap['timeFormat']>): Date | null {
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

function first<T>(
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
function valuesOf(entry: unknown, field: FieldName): unknown[] {
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
