import { readFile } from 'node:fs/promises';
import type { INestApplicationContext } from '@nestjs/common';
import {
  DEFAULT_CARD,
  RateCards,
  type RateVersion,
  VARIABLES,
} from '../../billing/rate-cards/rate-cards.service.js';
import { RateImports, startOf } from '../../billing/rate-cards/rate-imports.service.js';
import { RateSearches } from '../../billing/rate-cards/rate-search.service.js';
import type { Rate } from '../../billing/rate-cards/rate-table.js';
import { invalidField } from '../../http/api-error.js';
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
  readonly channel?: string;
  readonly number: string;
  readonly category?: string;
}

interface CompareOptions {
  readonly before: string;
  readonly after: string;
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
      const version = { ...options, from: start === undefined ? undefined : startOf(start) };
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
          version: id ?? VARIABLES,
          from: startsAt?.toISOString() ?? null,
          rates: size,
          state,
        }),
      ),
    }));
  rates
    .subcommand('find', 'the prices of messages to a number, now and in later versions')
    .option('--card <name>', 'the card', DEFAULT_CARD)
    .requiredOption('--number <number>', 'digits with country code')
    .option('--channel <channel>', 'as sms (default: each)')
    .option('--category <category>', 'of a WhatsApp message, as utility (default: each)')
    .runs((app, { card, ...search }: FindOptions) => ({
      prices: app
        .get(RateSearches, { strict: false })
        .find(card, search)
        .map(({ version, rate }) => ({
          version: nameOf(version),
          from: startText(version),
          ...shownRate(rate),
          currency: version.currency,
        })),
    }));
  rates
    .subcommand('compare', 'what one version changes of another one')
    .requiredOption('--before <version>', 'as rates list names it')
    .requiredOption('--after <version>', 'as rates list names it')
    .runs(async (app, { before, after }: CompareOptions) => {
      const found = await app.get(RateSearches, { strict: false }).compare(before, after);
      return {
        before: nameOf(found.before),
        after: nameOf(found.after),
        same: found.same,
        added: found.added.map(shownRate),
        removed: found.removed.map(shownRate),
        changed: found.changed.map(({ before: former, after: rate }) => ({
          ...shownRate(rate),
          formerPrice: former.price,
          formerBilling: former.billing,
        })),
      };
    });
}

function nameOf({ id }: Pick<RateVersion, 'id'>): string {
  return id ?? VARIABLES;
}

/** `null`: it has always been in force. */
function startText({ startsAt }: Pick<RateVersion, 'startsAt'>): string | null {
  return startsAt === -Infinity ? null : new Date(startsAt).toISOString();
}

function shownRate({ channel, category, prefix, price, billing }: Rate) {
  return { channel, category, prefix, price, billing };
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
