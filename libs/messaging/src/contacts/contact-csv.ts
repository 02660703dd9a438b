import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ADDRESS_KINDS, ADDRESS_RULES, addressKey, addressOf } from '../message/address.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import { csvOf, withoutMarks } from '../message/csv.js';
import type { FieldError } from '../message/errors.js';
import { moment } from '../message/report-fields.js';
import { consentKey, type ContactConsent } from './consent.js';
import type { ConsentScope, Contact } from './contact.js';
import { checkText, EVERY, type Identity, identityBy, invalid } from './contact-input.js';

/** Rows per transaction. */
const CHUNK = 500;
const MAX_ERRORS = 1_000;
const MAX_ROW = 65_536;
/** Separates several addresses of one kind; no address contains it. */
const SEPARATOR = ' ; ';

export interface CsvRowError extends FieldError {
  /** Line of the file, from 1. */
  readonly line: number;
}

export interface CsvImport {
  readonly imported: number;
  /** Rows skipped. */
  readonly failed: number;
  /** The first thousand errors. */
  readonly errors: readonly CsvRowError[];
}

/** A checked row. `timed`: the row gives the time of the consent; otherwise it is the present. */
export interface CsvContact {
  readonly identity: Identity;
  readonly consents: readonly (Omit<ContactConsent, 'contact'> & { readonly timed: boolean })[];
}

interface CsvRecord {
  readonly record: Readonly<Record<string, string | undefined>>;
  /** `error`: the row has not as many columns as the header. */
  readonly info: { readonly lines: number; readonly error: CsvError | undefined };
}

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
   * Passes the rows to `store` in chunks and reports bad ones; `now` in epoch milliseconds.
   * @throws MessageValidationError without a header or where the file is not CSV; earlier rows stay
   */
  async read(
    source: Readable,
    now: number,
    store: (contacts: readonly CsvContact[]) => Promise<void>,
  ): Promise<CsvImport> {
    const errors: CsvRowError[] = [];
    let [imported, failed, headed] = [0, 0, false];
    const parser = parse({
      bom: true,
      columns: (header: string[]) => {
        headed = true;
        return this.#header(header);
      },
      info: true,
      max_record_size: MAX_ROW,
      relax_column_count: true,
      skip_empty_lines: true,
    });
    let chunk: CsvContact[] = [];
    const keep = async () => {
      if (chunk.length > 0) await store(chunk);
      imported += chunk.length;
      chunk = [];
    };
    try {
      // The loop throws the errors of both streams.
      const rows = pipeline(source, parser, () => undefined) as AsyncIterable<CsvRecord>;
      for await (const row of rows) {
        const found: FieldError[] = [];
        const contact = this.#contact(row, now, found);
        if (found.length === 0) chunk.push(contact);
        else failed++;
        const { lines: line } = row.info;
        errors.push(...found.slice(0, MAX_ERRORS - errors.length).map((one) => ({ line, ...one })));
        if (chunk.length === CHUNK) await keep();
      }
    } catch (error) {
      throw error instanceof CsvError ? invalid('csv', problemOf(error)) : error;
    }
    if (!headed) throw invalid('csv', 'has no header');
    await keep();
    return { imported, failed, errors };
  }

  /** CSV for {@link read}; spreadsheets read no cell as a formula. */
  write(contacts: AsyncIterable<Contact>): Readable {
    return Readable.from(this.#lines(contacts), { objectMode: false });
  }

  async *#lines(contacts: AsyncIterable<Contact>): AsyncGenerator<string> {
    yield csvOf([this.#columns], '\n');
    for await (const { addresses, name, consents } of contacts) {
      const byKind = ADDRESS_KINDS.map((kind) =>
        addresses.flatMap((one) => (one.kind === kind ? [one.value] : [])).join(SEPARATOR),
      );
      const given = this.#consents.flatMap((scope) => {
        const consent = consents[consentKey(scope)];
        return consent ? [consent.state, consent.at.toISOString(), consent.source] : ['', '', ''];
      });
      yield csvOf([[...byKind, name, ...given]], '\n');
    }
  }

  /** @throws MessageValidationError */
  #header(header: readonly string[]): string[] {
    const names = header.map((given) => {
      const name = given.trim().toLowerCase();
      return name === 'bsuid' ? 'platform' : name;
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

  #contact({ record, info }: CsvRecord, now: number, errors: FieldError[]): CsvContact {
    const refuse = (path: string, message: string) => void errors.push({ path, message });
    if (info.error) refuse('row', 'has not as many columns as the header');
    const cell = (column: string): string | undefined =>
      withoutMarks(record[column] ?? '').trim() || undefined;
    const addresses = ADDRESS_KINDS.flatMap((kind) => {
      const given = cell(kind)?.split(SEPARATOR) ?? [];
      const found = given.flatMap((value) => addressOf(kind, value.trim()) ?? []);
      if (found.length < given.length) refuse(kind, ADDRESS_RULES[kind]);
      return found.map(addressKey);
    });
    const name = cell('name');
    if (name !== undefined) checkText(name, 'name', errors);
    if (addresses.length === 0 && errors.length === 0)
      refuse('row', 'must have an address: phone, email or platform');
    const consents = this.#consents.flatMap(({ column, ...scope }) => {
      const state = cell(column);
      if (state === undefined) return [];
      const [time, source = 'import'] = [cell(`${column}_at`), cell(`${column}_source`)];
      const at = time === undefined ? new Date(now) : moment(time);
      checkText(source, `${column}_source`, errors);
      if (state !== 'opted_in' && state !== 'opted_out')
        refuse(column, 'must be opted_in, opted_out or empty');
      else if (at === null) refuse(`${column}_at`, 'must be a date and time with an offset');
      else {
        const given = {
          state,
          at: Math.min(at.getTime(), now),
          timed: time !== undefined,
        } as const;
        return [{ ...scope, ...given, source, evidence: null }];
      }
      return [];
    });
    return { identity: identityBy(addresses, name), consents };
  }
}

/** A channel with the name of an address kind gets a longer column name. */
function columnOf({ channel, category }: ConsentScope): string {
  if (category !== EVERY) return `${channel}_${category}`;
  return (ADDRESS_KINDS as readonly string[]).includes(channel) ? `${channel}_consent` : channel;
}

function problemOf(error: CsvError): string {
  const { code, lines } = error as { readonly code: string; readonly lines?: number };
  return code === 'CSV_MAX_RECORD_SIZE'
    ? `has a row longer than ${MAX_ROW} characters, at line ${lines}`
    : `is not CSV from line ${lines} on (${code})`;
}
