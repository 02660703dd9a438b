import { MessagingConfigError } from '../message/errors.js';
import { compareAmounts, decimalAmount } from './rate-card.js';
import { object, type OptionReader } from './option-schema.js';

/** The prefix that stands for every other recipient. */
const OTHERS = '*';

/** Digits after the point of a millionth. */
const MILLIONTHS = 6;

/** What a provider charges for a message, or an SMS part, by the longest prefix of the recipient. */
export class ProviderCosts {
  readonly #lengths: readonly number[];
  /** By cost and number of parts. */
  readonly #amounts = new Map<string, bigint>();

  constructor(
    private readonly costs: ReadonlyMap<string, string>,
    /** Of all its costs; `undefined`: they are compared, and not counted. */
    readonly currency?: string,
  ) {
    this.#lengths = [...new Set([...costs.keys()].map(({ length }) => length))].toSorted(
      (a, b) => b - a,
    );
  }

  /** By prefixes with or without a plus sign. */
  static of(prices: Readonly<Record<string, string>>, currency?: string): ProviderCosts {
    const costs = Object.entries(prices).map(
      ([start, cost]) => [start.replace('+', ''), cost] as const,
    );
    return new ProviderCosts(new Map(costs), currency);
  }

  in(currency: string | undefined): ProviderCosts {
    return new ProviderCosts(this.costs, currency);
  }

  /** Length of its longest prefix. */
  get digits(): number {
    return this.#lengths[0] ?? 0;
  }

  /** `undefined`: the cost for the recipient is not known. */
  costOf(recipient: string): string | undefined {
    for (const length of this.#lengths) {
      const cost = this.costs.get(recipient.slice(0, length));
      if (cost !== undefined) return cost;
    }
    return this.costs.get(OTHERS);
  }

  /**
   * Of a message, in millionths, rounded half up.
   * @param recipient digits of a number, else `''` @returns `undefined`: it is not known
   */
  amountOf(recipient: string, parts: number): bigint | undefined {
    const cost = this.costOf(recipient);
    if (cost === undefined) return undefined;
    const key = `${cost} ${parts}`;
    const known = this.#amounts.get(key) ?? amountOf(cost, parts);
    this.#amounts.set(key, known);
    return known;
  }
}

function amountOf(cost: string, parts: number): bigint {
  const [whole = '', fraction = ''] = cost.split('.');
  const digits = Math.max(fraction.length, MILLIONTHS);
  const step = 10n ** BigInt(digits - MILLIONTHS);
  return (BigInt(whole + fraction.padEnd(digits, '0')) * BigInt(parts) + step / 2n) / step;
}

/** All in one currency; `'*'` is the cost of every other recipient. */
export const providerCosts: OptionReader<ProviderCosts, Readonly<Record<string, string>>> = (
  name,
  value,
) => {
  const entries = Object.entries(object<Record<string, unknown>>()(name, value));
  if (entries.length === 0)
    throw new MessagingConfigError(`${name}: is empty; write prices such as { '234': '0.0030' }`);
  return ProviderCosts.of(
    Object.fromEntries(
      entries.map(([start, cost]) => {
        if (start !== OTHERS && !/^\+?\d{1,15}$/.test(start))
          throw new MessagingConfigError(
            `${name}: must have prefixes of numbers with their country code as keys, or '*' for all others`,
          );
        return [start, decimalAmount(`${name}.${start}`, cost)];
      }),
    ),
  );
};

/** The names of those with a cost of at most `most`, the cheapest first; equal ones in their order. */
export function byCost(
  names: readonly string[],
  costs: ReadonlyMap<string, ProviderCosts>,
  recipient: string,
  most: string | undefined,
): readonly string[] {
  const known = names.flatMap((name) => {
    const cost = costs.get(name)?.costOf(recipient);
    const isAllowed = cost !== undefined && (most === undefined || compareAmounts(cost, most) <= 0);
    return isAllowed ? [{ name, cost }] : [];
  });
  return known.toSorted((a, b) => compareAmounts(a.cost, b.cost)).map(({ name }) => name);
}

/** @returns those of providers with the option `prices`, in the currency of their option `currency` */
export function costsOf(
  providers: Readonly<
    Record<
      string,
      { readonly prices?: ProviderCosts | undefined; readonly currency?: string | undefined }
    >
  > = {},
): ReadonlyMap<string, ProviderCosts> {
  return new Map(
    Object.entries(providers).flatMap(([name, { prices, currency }]) =>
      prices ? [[name, prices.in(currency)]] : [],
    ),
  );
}
