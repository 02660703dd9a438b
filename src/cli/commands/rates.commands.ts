import { readFile } from 'node:fs/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { DEFAULT_CARD, RateCards } from '../../billing/rate-cards/rate-cards.service.js';
import { RateImports } from '../../billing/rate-cards/rate-imports.service.js';
import { ApiError, invalidField } from '../../http/api-error.js';
import { numberRemedy } from '../../http/fields.js';
import { parseTimestamp } from '../../http/rfc3339.js';
import type { OperatorCommand } from '../operator-command.js';
import { auditOf } from '../operator-gateway.js';

interface ImportOptions {
  readonly card: string;
  readonly currency: string;
  readonly from?: string;
  readonly anyCurrency?: boolean;
}

interface FindOptions {
  readonly card: string;
  readonly channel: string;
  readonly number: string;
  readonly category?: string;
}

/** Largest file, in bytes. */
const LARGEST_FILE = 16 << 20;

export function addRatesCommands(rates: OperatorCommand): void {
  rates
    .subcommand('import', 'make a CSV file the next version of a card: all of it or nothing')
    .argument('<file>', 'columns channel,prefix,category,price and, for calls, billing')
    .option('--card <name>', 'the card', DEFAULT_CARD)
    .requiredOption('--currency <code>', 'of all prices, as NGN')
    .option('--from <when>', 'when it starts, as 2027-01-01 (UTC) or RFC 3339 (default: now)')
    .option('--any-currency', 'also where accounts with money in another one use the card')
    .runs(async (app, { from: start, ...options }: ImportOptions, file = '') => {
      const { card, currency } = options;
      const version = { ...options, from: start === undefined ? undefined : readStart(start) };
      const also = auditOf(app, null, 'rates.imported', card);
      const {
        id,
        from: startsAt,
        rates: size,
      } = await app.get(RateImports, { strict: false }).import(await textOf(file), version, also);
      return { card, currency, version: id, from: startsAt.toISOString(), rates: size };
    });
  rates
    .subcommand('list', 'cards with all their versions')
    .runs(async (app: INestApplicationContext) => ({
      rates: (await app.get(RateCards, { strict: false }).list()).map(
        ({ id, card, currency, startsAt, rates: size, state }) => ({
          card,
          currency,
          version: id ?? 'variables',
          from: startsAt?.toISOString() ?? null,
          rates: size,
          state,
        }),
      ),
    }));
  rates
    .subcommand('find', 'the price of a message to a number, now')
    .option('--card <name>', 'the card', DEFAULT_CARD)
    .requiredOption('--channel <channel>', 'as sms')
    .requiredOption('--number <number>', 'digits with country code')
    .option('--category <category>', 'of a WhatsApp message, as utility')
    .runs((app, { card, channel, number, category }: FindOptions) => {
      const remedy = numberRemedy(number);
      if (remedy !== undefined) throw invalidField('number', remedy);
      const version = app.get(RateCards, { strict: false }).inForce(card);
      if (!version)
        throw new ApiError(
          'not_found',
          `No version of a card ${card} is in force: dundun rates list`,
        );
      const rate = version.rates.find(channel, category ?? null, number);
      if (!rate)
        throw new ApiError(
          'not_found',
          `The card ${card} has no price for it; dundun rates import adds one`,
        );
      const { prefix, price, billing } = rate;
      const { id, currency } = version;
      return { card, version: id ?? 'variables', prefix, price, currency, billing };
    });
}

/** A date begins in UTC. @throws ApiError 422 */
function readStart(written: string): Date {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(written);
  const time = parseTimestamp(isDate ? `${written}T00:00:00Z` : written);
  if (time) return time;
  throw invalidField('from', 'must be a date such as 2027-01-01, or an RFC 3339 time');
}

/** @throws ApiError 422 where it cannot be read */
async function textOf(file: string): Promise<string> {
  const content = await readFile(file).catch((error: unknown) => {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw invalidField('file', `${file} cannot be read (${code})`);
  });
  if (content.length > LARGEST_FILE)
    throw invalidField('file', `is larger than ${LARGEST_FILE >> 20} MiB`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw invalidField('file', 'is not UTF-8');
  }
}
