import { Readable } from 'node:stream';
import { parse, CsvError } from 'csv-parse';
import { stringify } from 'csv-stringify';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import type { Channel } from '../message/message.js';
import { moment } from '../message/report-fields.js';
import type { ContactConsent } from './consents.js';
import type { Contact, NewContact } from './contact.js';
import { type Identity, identitiesOf } from './person.js';

/** Channels that have columns: the state, `_at` and `_source`. */
const CHANNELS: readonly Channel[] = ['sms', 'whatsapp', 'email', 'voice', 'vas'];
const COLUMNS = [
  'phone',
  'bsuid',
  'name',
  ...CHANNELS.flatMap((channel) => [channel, `${channel}_at`, `${channel}_source`]),
];
/** Rows written down in one transaction. */
const CHUNK = 500;
/** Errors that are told one by one. */
const TOLD = 1_000;
const LONGEST_ROW = 65_536;
const LONGEST_SOURCE = 255;
/** What spreadsheets take for a formula; the export puts an apostrophe before it. */
const GUARDED = /^'(?=[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/;

/** One row that was not taken. */
export interface CsvRowError extends FieldError {
  /** Of the file, from 1. */
  readonly line: number;
}

export interface CsvImport {
  /** Rows written down. */
  readonly imported: number;
  /** Rows left out. */
  readonly failed: number;
  /** Why, of the first thousand. */
  readonly errors: readonly CsvRowError[];
}

/** What a row says of a channel. */
interface CsvConsent extends Omit<ContactConsent, 'contact'> {
  /** It says when; else it is said now. */
  readonly timed: boolean;
}

/** A row, checked. */
export interface CsvContact {
  readonly line: number;
  readonly identity: Identity;
  readonly consents: readonly CsvConsent[];
}

type Row = Readonly<Record<string, string | undefined>>;

/**
 * Reads contacts from CSV a chunk at a time; `store` writes one chunk down, all of it or, where it
 * throws a MessageValidationError, nothing: then its rows are tried one by one.
 *
 * @throws MessageValidationError where the header is missing or the file is no CSV; what came before it stays
 */
export async function importContacts(
  source: Readable | AsyncIterable<string | Uint8Array>,
  now: number,
  store: (contacts: readonly CsvContact[]) => Promise<void>,
): Promise<CsvImport> {
  const errors: CsvRowError[] = [];
  let [imported, failed] = [0, 0];
  const refuse = (...found: CsvRowError[]) => {
    failed++;
    errors.push(...found.slice(0, Math.max(0, TOLD - errors.length)));
  };
  const keep = async (rows: readonly CsvContact[]): Promise<void> => {
    try {
      if (rows.length > 0) await store(rows);
      imported += rows.length;
    } catch (error) {
      if (!(error instanceof MessageValidationError)) throw error;
      const [only, ...others] = rows;
      if (only && others.length === 0)
        refuse(...error.fields.map(({ message }) => ({ line: only.line, path: 'row', message })));
      else for (const row of rows) await keep([row]);
    }
  };
  let headed = false;
  const parser = parse({
    bom: true,
    columns: (header: string[]) => {
      headed = true;
      return headerOf(header);
    },
    info: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: LONGEST_ROW,
    on_skip: (error) => {
      const line = error?.['lines'] as number | undefined;
      // Behind anything else nobody knows where the next row begins.
      if (error && error.code !== 'CSV_RECORD_INCONSISTENT_COLUMNS') throw error;
      refuse({ line: line ?? 0, path: 'row', message: 'has not as many columns as the header' });
      return undefined;
    },
  });
  const input = Readable.from(source);
  input.once('error', (error) => parser.destroy(error));
  input.pipe(parser);
  let chunk: CsvContact[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: Row;
      info: { lines: number };
    }>) {
      const row = readRow(record, info.lines, now);
      if (Array.isArray(row)) refuse(...row);
      else chunk.push(row);
      if (chunk.length < CHUNK) continue;
      await keep(chunk);
      chunk = [];
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new MessageValidationError([{ path: 'csv', message: brokenBy(error) }]);
  } finally {
    input.destroy();
  }
  if (!headed) throw new MessageValidationError([{ path: 'csv', message: 'has no header' }]);
  await keep(chunk);
  return { imported, failed, errors };
}

function brokenBy(error: CsvError): string {
  const line = String((error as { readonly lines?: number }).lines ?? '?');
  return error.code === 'CSV_MAX_RECORD_SIZE'
    ? `has a row longer than ${LONGEST_ROW} characters, at line ${line}`
    : `is no CSV from line ${line} on (${error.code})`;
}

/** @throws MessageValidationError */
function headerOf(header: readonly string[]): string[] {
  const names = header.map((name) => name.trim().toLowerCase());
  const unknown = names.filter((name) => !COLUMNS.includes(name));
  const reject = (message: string): never => {
    throw new MessageValidationError([{ path: 'csv', message }]);
  };
  if (unknown.length > 0)
    reject(`the header names ${unknown[0]?.slice(0, 64)}, which is none of ${COLUMNS.join(', ')}`);
  if (new Set(names).size !== names.length) reject('the header names a column twice');
  if (!names.includes('phone') && !names.includes('bsuid'))
    reject('the header must name phone or bsuid');
  return names;
}

function readRow(record: Row, line: number, now: number): CsvContact | CsvRowError[] {
  const cell = (column: string): string | undefined =>
    record[column]?.replace(GUARDED, '').trim() || undefined;
  const errors: FieldError[] = [];
  const [phone, bsuid, name] = [cell('phone'), cell('bsuid'), cell('name')];
  const person: NewContact = {
    ...(phone !== undefined && { phone }),
    ...(bsuid !== undefined && { bsuid }),
    ...(name !== undefined && { name }),
  };
  const consents = CHANNELS.flatMap((channel) => {
    const state = cell(channel);
    if (state === undefined) return [];
    const [at, source = 'import'] = [cell(`${channel}_at`), cell(`${channel}_source`)];
    const time = at === undefined ? new Date(now) : moment(at);
    if (state !== 'opted_in' && state !== 'opted_out')
      errors.push({ path: channel, message: 'must be opted_in, opted_out or empty' });
    else if (time === null)
      errors.push({ path: `${channel}_at`, message: 'must be a date and time with an offset' });
    else if (source.length > LONGEST_SOURCE || source.includes('\0'))
      errors.push({ path: `${channel}_source`, message: 'must be at most 255 characters' });
    else
      return [
        {
          channel,
          state,
          at: Math.min(time.getTime(), now),
          timed: at !== undefined,
          source,
          evidence: null,
        } as const,
      ];
    return [];
  });
  try {
    const [identity] = identitiesOf([person], 'row');
    if (errors.length === 0) return { line, identity: identity as Identity, consents };
  } catch (error) {
    if (!(error instanceof MessageValidationError)) throw error;
    for (const { path, message } of error.fields)
      errors.push({ path: path.replace(/^row\[0\]\.?/, '') || 'row', message });
  }
  return errors.map((one) => ({ line, ...one }));
}

/** CSV that {@link importContacts} reads back; no cell is a formula to a spreadsheet. */
export function exportContacts(contacts: AsyncIterable<Contact>): Readable {
  const rows = stringify({ header: true, columns: COLUMNS, escape_formulas: true });
  const input = Readable.from(rowsOf(contacts));
  input.once('error', (error) => rows.destroy(error));
  rows.once('close', () => input.destroy());
  return input.pipe(rows);
}

async function* rowsOf(contacts: AsyncIterable<Contact>): AsyncGenerator<(string | null)[]> {
  for await (const { phone, bsuid, name, consents } of contacts)
    yield [
      phone,
      bsuid,
      name,
      ...CHANNELS.flatMap((channel) => {
        const consent = consents[channel];
        return consent
          ? [consent.state, consent.at.toISOString(), consent.source]
          : [null, null, null];
      }),
    ];
}
