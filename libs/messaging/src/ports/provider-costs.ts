import { MessagingConfigError } from '../message/errors.js';
import { compareAmounts, decimalAmount } from './rate-card.js';
import { object, type OptionReader } from './option-schema.js';

/** The prefix that stands for every other recipient. */
const OTHERS = '*';

/** What a provider charges for a message, or an SMS part, by the longest prefix of the recipient. */
export class ProviderCosts {
  readonly #lengths: readonly number[];

  constructor(private readonly costs: ReadonlyMap<string, string>) {
    this.#lengths = [...new Set([...costs.keys()].map(({ length }) => length))].toSorted(
      (a, b) => b - a,
    );
  }

  /** `undefined`: the cost for the recipient is not known. */
  of(recipient: string): string | undefined {
    for (const length of this.#lengths) {
      const cost = this.costs.get(recipient.slice(0, length));
      if (cost !== undefined) return cost;
    }
    return this.costs.get(OTHERS);
  }
}

/** All in one currency; `'*'` is the cost of every other recipient. */
export const providerCosts: OptionReader<ProviderCosts, Readonly<Record<string, string>>> = (
  name,
  value,
) => {
  const entries = Object.entries(object<Record<string, unknown>>()(name, value));
  if (entries.length === 0)
    throw new MessagingConfigError(`${name}: is empty; write prices such as { '234': '0.0030' }`);
  return new ProviderCosts(
    new Map(
      entries.map(([start, cost]) => {
        if (start !== OTHERS && !/^\+?\d{1,15}$/.test(start))
          throw new MessagingConfigError(
            `${name}: must have prefixes of numbers with their country code as keys, or '*' for all others`,
          );
        return [start.replace('+', ''), decimalAmount(`${name}.${start}`, cost)];
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
    const cost = costs.get(name)?.of(recipient);
    const isAllowed = cost !== undefined && (most === undefined || compareAmounts(cost, most) <= 0);
    return isAllowed ? [{ name, cost }] : [];
  });
  return known.toSorted((a, b) => compareAmounts(a.cost, b.cost)).map(({ name }) => name);
}

export function costsOf(
  providers: Readonly<Record<string, { readonly prices?: ProviderCosts | undefined }>> = {},
): ReadonlyMap<string, ProviderCosts> {
  return new Map(
    Object.entries(providers).flatMap(([name, { prices }]) => (prices ? [[name, prices]] : [])),
  );
}
