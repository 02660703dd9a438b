import type { FieldError } from '@dundun/messaging';
import { CsvError, parse } from 'csv-parse';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { invalidField, invalidFields } from '../../http/api-error.js';
import { readAmount } from '../money.js';
import { OTHERS, type Rate } from './rate-table.js';

const COLUMNS = ['channel', 'prefix', 'category', 'price', 'billing'] as const;
const NEEDED = ['channel', 'prefix', 'price'] as const;

/** Most rates of a file. */
export const MOST_RATES = 100_000;

/** Wrong lines that an error names. */
const MOST_NAMED = 100;

/** Bytes, and lines, after which other work has a turn of the event loop. */
const SLICE = 65_536;
const LINES = 2_000;

/** Highest price: nine digits before the point. */
const HIGHEST = 10n ** 15n;

/** What the rates of a channel may have. */
export interface ChannelRules {
  /** Categories of its prices; `null`: it has none. */
  readonly categories: readonly string[] | null;
  /** Recipients are numbers. */
  readonly hasPrefixes: boolean;
  /** Billed by time. */
  readonly isTimed: boolean;
}

interface Row {
  readonly record: Readonly<Partial<Record<(typeof COLUMNS)[number], string>>>;
  readonly info: { readonly lines: number; readonly error: CsvError | undefined };
}

/**
 * Reads a CSV file with a header: `channel`, `prefix`, `price`, and where a channel has them `category`
 * and `billing`. @param rulesOf `undefined`: there is no such channel
 * @returns each rate with its line @throws ApiError 422 naming each wrong line
 */
export async function readRates(
  csv: string,
  rulesOf: (channel: string) => ChannelRules | undefined,
): Promise<readonly (readonly [line: number, rate: Rate])[]> {
  const errors: FieldError[] = [];
  const lines = new Map<string, number>();
  const rates: (readonly [line: number, rate: Rate])[] = [];
  for (const { record, info } of await rowsOf(csv)) {
    const { lines: line, error } = info;
    if (rates.length % LINES === LINES - 1) await turn();
    const refuse = (column: string, message: string) =>
      void errors.push({ path: `line ${line}`, message: `${column} ${message}` });
    if (error) refuse('the line', 'has not as many columns as the header');
    const rate = rateOf(record, rulesOf, refuse);
    const key = `${rate.channel} ${rate.category ?? ''} ${rate.prefix}`;
    const first = lines.get(key);
    if (first === undefined) lines.set(key, line);
    else refuse('the line', `has the channel, prefix and category of line ${first} again`);
    rates.push([line, rate]);
  }
  if (errors.length > MOST_NAMED) {
    const more = new Set(errors.splice(MOST_NAMED).map(({ path }) => path)).size;
    errors.push({ path: 'file', message: `has ${more} further wrong lines` });
  }
  if (errors.length > 0) throw invalidFields(errors);
  if (rates.length === 0) throw invalidField('file', 'has no line below its header');
  return rates;
}

/** @throws ApiError 422 where the file is not CSV, has a wrong header or too many lines */
async function rowsOf(csv: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const parser = parse({
    bom: true,
    columns: headerOf,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    to: MOST_RATES + 1,
    trim: true,
  });
  try {
    await pipeline(slicesOf(csv), parser, async (parsed: AsyncIterable<Row>) => {
      for await (const row of parsed) rows.push(row);
    });
    if (rows.length <= MOST_RATES) return rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { code, lines } = error as { readonly code: string; readonly lines?: number };
    throw invalidField('file', `is not CSV from line ${lines ?? 1} on (${code})`);
  }
  throw invalidField('file', `has more than ${MOST_RATES} lines; take prefixes together`);
}

async function* slicesOf(csv: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(csv);
  for (let at = 0; at < bytes.length; at += SLICE) {
    yield bytes.subarray(at, at + SLICE);
    await turn();
  }
}

/** @throws ApiError 422 */
function headerOf(header: readonly string[]): string[] {
  const names = header.map((name) => name.toLowerCase());
  const isKnown = (name: string) => COLUMNS.some((column) => column === name);
  const isComplete = NEEDED.every((name) => names.includes(name));
  if (!isComplete || !names.every(isKnown) || new Set(names).size !== names.length)
    throw invalidField(
      'file',
      `must begin with a line that names its columns: ${COLUMNS.join(',')}; category and billing may be left out`,
    );
  return names;
}

function rateOf(
  record: Row['record'],
  rulesOf: (channel: string) => ChannelRules | undefined,
  refuse: (column: string, message: string) => void,
): Rate {
  const { channel = '', prefix: written = '', price = '' } = record;
  const category = record.category || null;
  const billing = record.billing || null;
  const prefix = written.replace(/^\+/, '');
  const rules = rulesOf(channel);
  const amount = readAmount(price);
  if (!rules) refuse('channel', 'must be the name of a channel, such as sms');
  else {
    const { categories, hasPrefixes, isTimed } = rules;
    if (categories ? !categories.includes(category ?? '') : category !== null)
      refuse(
        'category',
        categories
          ? `must be ${categories.join(', ')}`
          : `must be empty: ${channel} has one price for all categories`,
      );
    if (!hasPrefixes && prefix !== OTHERS)
      refuse('prefix', `must be ${OTHERS}: the recipients of ${channel} are no numbers`);
    if (isTimed ? !/^[1-9]\d{0,3}\/[1-9]\d{0,3}$/.test(billing ?? '') : billing !== null)
      refuse(
        'billing',
        isTimed
          ? 'must be the seconds of the first and of each further block, such as 60/60'
          : `must be empty: ${channel} is not billed by time`,
      );
  }
  if (prefix !== OTHERS && !/^[1-9]\d{0,14}$/.test(prefix))
    refuse('prefix', `must be the first digits of numbers with country code, or ${OTHERS}`);
  if (amount === undefined || amount < 0n || amount >= HIGHEST)
    refuse('price', 'must be a decimal number with up to six digits after the point, such as 4.5');
  return { channel, prefix, category, price, amount: amount ?? 0n, billing };
}
