import { ChannelRegistry } from '@dundun/messaging/ports';
import { Injectable } from '@nestjs/common';
import { ApiError, invalidField } from '../../http/api-error.js';
import { numberRemedy } from '../../http/fields.js';
import { type RateChanges, rateChanges } from './rate-changes.js';
import { RateCards, type RateVersion } from './rate-cards.service.js';
import type { Rate } from './rate-table.js';

export interface RateSearch {
  /** @default every channel whose recipients are numbers */
  readonly channel?: string | undefined;
  /** @default every category of the channel */
  readonly category?: string | undefined;
  /** Digits with country code. */
  readonly number: string;
}

export interface FoundRate {
  readonly version: RateVersion;
  readonly rate: Rate;
}

export interface ComparedVersions extends RateChanges {
  readonly before: RateVersion;
  readonly after: RateVersion;
}

/** What the versions of cards have, for operators. */
@Injectable()
export class RateSearches {
  constructor(
    private readonly cards: RateCards,
    private readonly registry: ChannelRegistry,
  ) {}

  /**
   * The rates by which messages to a number are priced, in the version in force and in later ones.
   * @throws ApiError 404 where no version of the card has one; 422 on `number`
   */
  find(card: string, { number, channel, category }: RateSearch): readonly FoundRate[] {
    const remedy = numberRemedy(number);
    if (remedy !== undefined) throw invalidField('number', remedy);
    const versions = this.cards.present(card);
    if (versions.length === 0)
      throw new ApiError('not_found', `There is no card ${card}: dundun rates list`);
    const isAsked = (rate: Rate) =>
      channel === undefined
        ? (this.registry.find(rate.channel)?.addressKinds.includes('phone') ?? false)
        : rate.channel === channel &&
          (category === undefined || rate.category === null || rate.category === category);
    const found = versions.flatMap((version) =>
      version.rates.findAll(number).flatMap((rate) => (isAsked(rate) ? { version, rate } : [])),
    );
    if (found.length === 0)
      throw new ApiError(
        'not_found',
        `The card ${card} has no price for it; dundun rates import adds one`,
      );
    return found;
  }

  /** @param before, after ids of versions, or `variables` @throws ApiError 404 */
  async compare(before: string, after: string): Promise<ComparedVersions> {
    const [one, other] = [await this.cards.version(before), await this.cards.version(after)];
    const changes = await rateChanges(one.rates.rates, other.rates.rates);
    return { before: one, after: other, ...changes };
  }
}
