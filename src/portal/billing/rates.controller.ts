import { Get, HttpCode, Post } from '@nestjs/common';
import { type RateChanges } from '../../billing/rate-cards/rate-changes.js';
import {
  RateCards,
  type RateVersion,
  VARIABLES,
} from '../../billing/rate-cards/rate-cards.service.js';
import { RateImports, startOf } from '../../billing/rate-cards/rate-imports.service.js';
import { RateSearches } from '../../billing/rate-cards/rate-search.service.js';
import type { Rate } from '../../billing/rate-cards/rate-table.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { type Actor, Audit } from '../audit.js';
import { RateCompareQuery, RateFindQuery, RatesBody } from '../portal.dto.js';
import type {
  FoundRateRow,
  ImportedRates,
  Listed,
  RateComparison,
  RatePreview,
  RateRow,
  RateRows,
  RateVersionRow,
} from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { PortalAccess } from '../portal.guard.js';
import { By } from '../portal-request.js';

/** Rates of a list that an answer has; `dundun rates compare` has all. */
const MOST_ROWS = 200;

/** Rate cards of all accounts. */
@PortalController('rates')
@PortalAccess('operator')
export class PortalRatesController {
  constructor(
    private readonly cards: RateCards,
    private readonly imports: RateImports,
    private readonly searches: RateSearches,
    private readonly audit: Audit,
  ) {}

  @Get()
  async list(): Promise<Listed<RateVersionRow>> {
    const versions = await this.cards.list();
    return {
      data: versions.map(({ id, startsAt, ...version }) => ({
        ...version,
        id: id ?? VARIABLES,
        startsAt: startsAt?.toISOString() ?? null,
      })),
      nextCursor: null,
    };
  }

  @Get('find')
  find(@ValidQuery(RateFindQuery) { card, number }: RateFindQuery): Listed<FoundRateRow> {
    const found = this.searches.find(card, { number });
    return {
      data: found.map(({ version, rate }) => ({
        version: version.id ?? VARIABLES,
        currency: version.currency,
        startsAt: startText(version),
        ...shownRate(rate),
      })),
      nextCursor: null,
    };
  }

  @Get('compare')
  async compare(
    @ValidQuery(RateCompareQuery) { before, after }: RateCompareQuery,
  ): Promise<RateComparison> {
    const found = await this.searches.compare(before, after);
    return {
      formerCurrency: found.before.currency,
      currency: found.after.currency,
      ...shownChanges(found),
    };
  }

  @Post('preview')
  @HttpCode(200)
  async preview(@JsonBody(RatesBody) { csv, ...version }: RatesBody): Promise<RatePreview> {
    const found = await this.imports.preview(csv, versionOf(version));
    const { card, currency, from, rates, follows, until } = found;
    return {
      ...shownChanges(found),
      card,
      currency,
      from: from.toISOString(),
      rates,
      follows,
      until: until?.toISOString() ?? null,
    };
  }

  @Post()
  async import(
    @By() actor: Actor,
    @JsonBody(RatesBody) { csv, ...version }: RatesBody,
  ): Promise<ImportedRates> {
    const also = this.audit.also({ ...actor, accountId: null }, 'rates.imported', version.card);
    const { id } = await this.imports.import(csv, versionOf(version), also);
    return { version: id };
  }
}

function versionOf({ from, ...version }: Omit<RatesBody, 'csv'>) {
  return { ...version, from: from === undefined ? undefined : startOf(from) };
}

function startText({ startsAt }: RateVersion): string | null {
  return startsAt === -Infinity ? null : new Date(startsAt).toISOString();
}

function shownChanges({ added, removed, changed, same }: RateChanges) {
  return {
    added: firstOf(added, shownRate),
    removed: firstOf(removed, shownRate),
    changed: firstOf(changed, ({ before, after }) => ({
      ...shownRate(after),
      formerPrice: before.price,
      formerBilling: before.billing,
    })),
    same,
  };
}

function firstOf<T, R>(list: readonly T[], shown: (one: T) => R): RateRows<R> {
  return { count: list.length, rows: list.slice(0, MOST_ROWS).map(shown) };
}

function shownRate({ channel, category, prefix, price, billing }: Rate): RateRow {
  return { channel, category, prefix, price, billing };
}
