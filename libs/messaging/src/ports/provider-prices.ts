import { MessagingConfigError } from '../message/errors.js';
import { compareAmounts, decimalAmount } from './rate-card.js';
import { object, type OptionReader } from './option-schema.js';

/** The prefix that stands for every other recipient. */
const OTHERS = '*';

/** Prices of a provider for a message, or an SMS part, by the longest prefix of the recipient. */
export class ProviderPrices {
  readonly #lengths: readonly number[];

  constructor(private readonly prices: ReadonlyMap<string, string>) {
    this.#lengths = [...new Set([...prices.keys()].map(({ length }) => length))].toSorted(
      (a, b) => b - a,
    );
  }

  /** `undefined`: the provider has no price for the recipient. */
  of(recipient: string): string | undefined {
    for (const length of this.#lengths) {
      const price = this.prices.get(recipient.slice(0, length));
      if (price !== undefined) return price;
    }
    return this.prices.get(OTHERS);
  }
}

/** All in one currency; `'*'` is the price of every other recipient. */
export const providerPrices: OptionReader<ProviderPrices, Readonly<Record<string, string>>> = (
  name,
  value,
) => {
  const entries = Object.entries(object<Record<string, unknown>>()(name, value));
  if (entries.length === 0)
    throw new MessagingConfigError(`${name}: is empty; write prices such as { '234': '0.0030' }`);
  return new ProviderPrices(
    new Map(
      entries.map(([start, price]) => {
        if (start !== OTHERS && !/^\+?\d{1,15}$/.test(start))
          throw new MessagingConfigError(
            `${name}: must have prefixes of numbers with their country code as keys, or '*' for all others`,
          );
        return [start.replace('+', ''), decimalAmount(`${name}.${start}`, price)];
      }),
    ),
  );
};

/** The names of those with a price of at most `most`, the cheapest first; equal ones in their order. */
export function byPrice(
  names: readonly string[],
  prices: ReadonlyMap<string, ProviderPrices>,
  recipient: string,
  most: string | undefined,
): readonly string[] {
  const known = names.flatMap((name) => {
    const price = prices.get(name)?.of(recipient);
    const isAllowed =
      price !== undefined && (most === undefined || compareAmounts(price, most) <= 0);
    return isAllowed ? [{ name, price }] : [];
  });
  return known.toSorted((a, b) => compareAmounts(a.price, b.price)).map(({ name }) => name);
}

export function pricesOf(
  providers: Readonly<Record<string, { readonly prices?: ProviderPrices | undefined }>> = {},
): ReadonlyMap<string, ProviderPrices> {
  return new Map(
    Object.entries(providers).flatMap(([name, { prices }]) => (prices ? [[name, prices]] : [])),
  );
}
