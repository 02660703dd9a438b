import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import {
  ADDRESS_KINDS,
  ADDRESS_RULES,
  addressKey,
  type AddressKind,
  addressOf,
} from '../message/address.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import { type FieldError, MessageValidationError } from '../message/errors.js';
import { moment } from '../message/report-fields.js';
import { consentKey, type ConsentScope, type ContactConsent } from './consent.js';
import type { Contact } from './contact.js';
import { EVERY, type Identity, invalid, isText } from './contact-input.js';

/** Rows per transaction. */
const CHUNK = 500;
/** Most errors that are reported individually. */
const MAX_ERRORS = 1_000;
const MAX_ROW = 65_536;
const MAX_TEXT = 255;
/** Separates several addresses of one kind; no address contains it. */
const SEPARATOR = ' ; ';
/** Former column names. */
const RENAMED: Readonly<Record<string, string>> = { bsuid: 'platform' };
/** Text that spreadsheets read as a formula; the export puts an apostrophe before it. */
const GUARDED = /^'(?=[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/;

/** An error of one skipped row. */
export interface CsvRowError extends FieldError {
  /** Line of the file, from 1. */
  readonly line: number;
}

export interface CsvImport {
  /** Rows recorded. */
  readonly imported: number;
  /** Rows skipped. */
  readonly failed: number;
  /** The first thousand errors. */
  readonly errors: readonly CsvRowError[];
}

/** Consent as read from a row. */
interface CsvConsent extends Omit<ContactConsent, 'contact'> {
  /** The row gives a time; otherwise the consent takes the time of its recording. */
  readonly timed: boolean;
}

/** A checked row. */
export interface CsvContact {
  readonly line: number;
  readonly identity: Identity;
  readonly consents: readonly CsvConsent[];
}

type Row = Readonly<Record<string, string | undefined>>;

/** Reads and writes contacts as CSV, with columns for every registered channel. */
export class ContactCsv {
  readonly #consents: readonly (ConsentScope & { readonly column: string })[];
  readonly #columns: readonly string[];

  constructor(registry: ChannelRegistry) {
    this.#consents = registry.names.flatMap((channel) =>
      [EVERY, ...registry.consentCategories(channel)].map((category) => ({
        channel,
        category,
        column: columnOf({ channel, category }),
      })),
    );
    this.#columns = [
      ...ADDRESS_KINDS,
      'name',
      ...this.#consents.flatMap(({ column }) => [column, `${column}_at`, `${column}_source`]),
    ];
  }

  /**
   * Reads contacts in chunks. `store` records a whole chunk, or throws a MessageValidationError and
   * records nothing; then each row of the chunk is stored on its own.
   *
   * @param now epoch milliseconds
   * @throws MessageValidationError where the header is missing or the file is not CSV; earlier rows
   *   stay
   */
  async read(
    source: Readable,
    now: number,
    store: (contacts: readonly CsvContact[]) => Promise<void>,
  ): Promise<CsvImport> {
    const result = new ImportResult(store);
    let headed = false;
    const parser = parse({
      bom: true,
      columns: (header: string[]) => {
        headed = true;
        return this.#header(header);
      },
      info: true,
      skip_empty_lines: true,
      skip_records_with_error: true,
      max_record_size: MAX_ROW,
      on_skip: (error) => {
        const line = error?.['lines'] as number | undefined;
        // After any other error the parser cannot find the start of the next row.
        if (error && error.code !== 'CSV_RECORD_INCONSISTENT_COLUMNS') throw error;
        const message = 'has not as many columns as the header';
        result.refuse({ line: line ?? 0, path: 'row', message });
        return undefined;
      },
    });
    source.once('error', (error) => parser.destroy(error));
    source.pipe(parser);
    let chunk: CsvContact[] = [];
    try {
      for await (const { record, info } of parser as AsyncIterable<{
        record: Row;
        info: { lines: number };
      }>) {
        const row = this.#row(record, info.lines, now);
        if (Array.isArray(row)) result.refuse(...row);
        else chunk.push(row);
        if (chunk.length < CHUNK) continue;
        await result.keep(chunk);
        chunk = [];
      }
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      throw invalid('csv', brokenBy(error));
    } finally {
      source.destroy();
    }
    if (!headed) throw invalid('csv', 'has no header');
    await result.keep(chunk);
    return result;
  }

  /** CSV for {@link read}; spreadsheets read no cell as a formula. */
  write(contacts: AsyncIterable<Contact>): Readable {
    const rows = stringify({ header: true, columns: [...this.#columns], escape_formulas: true });
    const input = Readable.from(this.#rows(contacts));
    input.once('error', (error) => rows.destroy(error));
    rows.once('close', () => input.destroy());
    return input.pipe(rows);
  }

  async *#rows(contacts: AsyncIterable<Contact>): AsyncGenerator<(string | null)[]> {
    for await (const { addresses, name, consents } of contacts)
      yield [
        ...ADDRESS_KINDS.map((kind) =>
          addresses.flatMap((one) => (one.kind === kind ? [one.value] : [])).join(SEPARATOR),
        ),
        name,
        ...this.#consents.flatMap((scope) => {
          const consent = consents[consentKey(scope)];
          return consent
            ? [consent.state, consent.at.toISOString(), consent.source]
            : [null, null, null];
        }),
      ];
  }

  /** @throws MessageValidationError */
  #header(header: readonly string[]): string[] {
    const names = header.map((given) => {
      const name = given.trim().toLowerCase();
      return RENAMED[name] ?? name;
    });
    const unknown = names.find((name) => !this.#columns.includes(name));
    if (unknown !== undefined)
      throw invalid(
        'csv',
        `the header names ${unknown.slice(0, 64)}, which is none of ${this.#columns.join(', ')}`,
      );
    if (new Set(names).size !== names.length)
      throw invalid('csv', 'the header names a column twice');
    if (!ADDRESS_KINDS.some((kind) => names.includes(kind)))
      throw invalid('csv', 'the header must name phone, email or platform');
    return names;
  }

  #row(record: Row, line: number, now: number): CsvContact | CsvRowError[] {
    const cell = (column: string): string | undefined =>
      record[column]?.replace(GUARDED, '').trim() || undefined;
    const errors: FieldError[] = [];
    const addresses = ADDRESS_KINDS.flatMap((kind) => addressesIn(cell(kind), kind, errors));
    const name = cell('name');
    if (name !== undefined && !isText(name, MAX_TEXT))
      errors.push({ path: 'name', message: 'must be at most 255 characters, without NUL' });
    if (addresses.length === 0 && errors.length === 0)
      errors.push({ path: 'row', message: 'must have an address: phone, email or platform' });
    const consents = this.#consents.flatMap(({ column, ...scope }) => {
      const state = cell(column);
      if (state === undefined) return [];
      const [at, from = 'import'] = [cell(`${column}_at`), cell(`${column}_source`)];
      const time = at === undefined ? new Date(now) : moment(at);
      const given = { state, time, source: from };
      if (!isConsent(given, column, errors)) return [];
      const when = Math.min(given.time.getTime(), now);
      const timed = at !== undefined;
      return [
        { ...scope, state: given.state, at: when, timed, source: given.source, evidence: null },
      ];
    });
    return errors.length > 0
      ? errors.map((one) => ({ line, ...one }))
      : { line, identity: { addresses: [...new Set(addresses)], name }, consents };
  }
}

/** Records rows and counts them. */
class ImportResult implements CsvImport {
  imported = 0;
  failed = 0;
  readonly errors: CsvRowError[] = [];
  readonly #store: (contacts: readonly CsvContact[]) => Promise<void>;

  constructor(store: (contacts: readonly CsvContact[]) => Promise<void>) {
    this.#store = store;
  }

  refuse(...found: readonly CsvRowError[]): void {
    this.failed++;
    this.errors.push(...found.slice(0, Math.max(0, MAX_ERRORS - this.errors.length)));
  }

  async keep(rows: readonly CsvContact[]): Promise<void> {
    try {
      if (rows.length > 0) await this.#store(rows);
      this.imported += rows.length;
    } catch (error) {
      if (!(error instanceof MessageValidationError)) throw error;
      const [only, ...others] = rows;
      if (only && others.length === 0)
        this.refuse(
          ...error.fields.map(({ message }) => ({ line: only.line, path: 'row', message })),
        );
      else for (const row of rows) await this.keep([row]);
    }
  }
}

/**
 * Consent column of a channel; a channel with the name of an address kind gets a longer column
 * name.
 */
function columnOf({ channel, category }: ConsentScope): string {
  if (category !== EVERY) return `${channel}_${category}`;
  return (ADDRESS_KINDS as readonly string[]).includes(channel) ? `${channel}_consent` : channel;
}

function addressesIn(cell: string | undefined, kind: AddressKind, errors: FieldError[]): string[] {
  const keys = (cell?.split(SEPARATOR) ?? []).map((value) => addressOf(kind, value.trim()));
  if (keys.includes(undefined)) errors.push({ path: kind, message: ADDRESS_RULES[kind] });
  return keys.flatMap((address) => (address ? [addressKey(address)] : []));
}

function isConsent(
  given: { readonly state: string; readonly time: Date | null; readonly source: string },
  column: string,
  errors: FieldError[],
): given is {
  readonly state: ContactConsent['state'];
  readonly time: Date;
  readonly source: string;
} {
  const before = errors.length;
  if (given.state !== 'opted_in' && given.state !== 'opted_out')
    errors.push({ path: column, message: 'must be opted_in, opted_out or empty' });
  else if (given.time === null)
    errors.push({ path: `${column}_at`, message: 'must be a date and time with an offset' });
  else if (!isText(given.source, MAX_TEXT))
    errors.push({ path: `${column}_source`, message: 'must be at most 255 characters' });
  return errors.length === before;
}

function brokenBy(error: CsvError): string {
  const line = String((error as { readonly lines?: number }).lines ?? '?');
  return error.code === 'CSV_MAX_RECORD_SIZE'
    ? `has a row longer than ${MAX_ROW} characters, at line ${line}`
    : `is not CSV from line ${line} on (${error.code})`;
}
