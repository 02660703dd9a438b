import {
  type GuardedBatch,
  SpendBusyError,
  SpendRefusedError,
  type VasOrderContent,
} from '@dundun/messaging/ports';
import { readAmount } from '../money.js';
import {
  DEFAULT_CARD,
  type PayingTerms,
  type RateCards,
} from '../rate-cards/rate-cards.service.js';
import { OTHERS, type Rate, type RateTable } from '../rate-cards/rate-table.js';
import { reservationOf, writeRates } from './batch-rates.js';

export interface PricedBatch {
  readonly rates: string;
  readonly amount: bigint;
}

/** By what an account is priced. */
type Terms = Pick<PayingTerms, 'card' | 'currency'>;

/** What batches cost by the rate cards in memory. */
export class BatchPrices {
  constructor(private readonly cards: Pick<RateCards, 'currencyOf' | 'inForce'>) {}

  /** @throws SpendBusyError as {@link #ofCard} */
  priceOf(batch: GuardedBatch, terms: Terms): PricedBatch | SpendRefusedError {
    return isOrder(batch) ? orderPrice(batch.content, terms.currency) : this.#ofCard(batch, terms);
  }

  /** `undefined`: it would be refused. */
  expectedPriceOf(batch: GuardedBatch, terms: Terms): PricedBatch | undefined {
    try {
      const priced = this.priceOf(batch, terms);
      return priced instanceof SpendRefusedError ? undefined : priced;
    } catch (error) {
      if (error instanceof SpendBusyError) return undefined;
      throw error;
    }
  }

  /** @throws SpendBusyError where this process does not know the card yet: it reads them every second */
  #ofCard(
    { channel, category, parts, recipients }: GuardedBatch,
    { currency, card: own }: Terms,
  ): PricedBatch | SpendRefusedError {
    // As the locked row has it: a new card counts at once in every process.
    const card = own ?? DEFAULT_CARD;
    if (own !== null && this.cards.currencyOf(card) === undefined) throw new SpendBusyError();
    const version = this.cards.inForce(card);
    if (version && version.currency !== currency)
      return mismatch(version.currency, currency, 'The rate card');
    const priced = version?.rates.price(channel, category, recipients);
    if (!version || !priced || priced.unpriced >= 0)
      return new SpendRefusedError(
        'no_price',
        `The rate card of the account has no price for recipient ${(priced?.unpriced ?? 0) + 1} on ${channel}; ask your provider for one`,
      );
    const amount = priced.groups.reduce(
      (sum, { rate, recipients: number }) => sum + reservationOf(rate, parts) * BigInt(number),
      0n,
    );
    return {
      rates: writeRates(priced.groups, reportedRates(version.rates, channel, recipients)),
      amount,
    };
  }
}

/** The rates of the only recipient in the categories of the channel. */
function reportedRates(rates: RateTable, channel: string, recipients: readonly string[]) {
  const [recipient] = recipients;
  if (recipient === undefined || recipients.length > 1) return undefined;
  return new Map(
    rates.categoriesOf(channel).flatMap((category): [string, Rate][] => {
      const rate = rates.find(channel, category, recipient);
      return rate ? [[category, rate]] : [];
    }),
  );
}

function isOrder(
  batch: GuardedBatch,
): batch is GuardedBatch & { readonly content: VasOrderContent } {
  return batch.content.kind === 'vas.airtime' || batch.content.kind === 'vas.data';
}

/** An order costs its amount. */
function orderPrice(
  { amount, currency }: VasOrderContent,
  own: string,
): PricedBatch | SpendRefusedError {
  if (currency !== own) return mismatch(currency, own, 'The order');
  const price = readAmount(amount);
  if (price === undefined)
    return new SpendRefusedError('no_price', `The amount ${amount} has more than six digits`);
  return { rates: `${OTHERS}:${price}`, amount: price };
}

function mismatch(currency: string, own: string, what: string): SpendRefusedError {
  return new SpendRefusedError(
    'currency_mismatch',
    `${what} is in ${currency}, and the account pays in ${own}; ask for it in ${own}`,
    { currency, account_currency: own },
  );
}
