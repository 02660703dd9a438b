import type { MarginRow } from '../portal-api.js';

/** Sums of rows with one currency of their price. Amounts are millionths. */
export interface MarginGroup {
  readonly first: MarginRow;
  readonly messages: number;
  readonly price: bigint;
  /** By currency. */
  readonly costs: ReadonlyMap<string, bigint>;
  /** Messages whose cost is not known. */
  readonly unknown: number;
  /** The messages whose cost is in the currency of their price. */
  readonly compared: { readonly messages: number; readonly price: bigint; readonly cost: bigint };
}

/** The margin of the compared messages; `undefined`: there are none. */
export function marginOf({ compared }: MarginGroup): bigint | undefined {
  return compared.messages === 0 ? undefined : compared.price - compared.cost;
}

/** That margin as a share of their price, such as `33.3%`. */
export function marginShare(group: MarginGroup): string {
  const margin = marginOf(group);
  const { price } = group.compared;
  if (margin === undefined || price === 0n) return '–';
  const half = margin < 0n ? -price : price;
  const tenths = (margin * 2_000n + half) / (2n * price);
  return `${(Number(tenths) / 10).toFixed(1)}%`;
}

/** Adds rows by a name and the currency of their price; by currency, those with the highest price first. */
export function marginGroups(
  rows: Iterable<MarginRow>,
  nameOf: (row: MarginRow) => string,
): readonly MarginGroup[] {
  const groups = new Map<string, MarginGroup>();
  for (const row of rows) {
    const name = `${row.currency} ${nameOf(row)}`;
    groups.set(name, added(groups.get(name) ?? emptyGroup(row), row));
  }
  return [...groups.values()].toSorted(
    (one, other) =>
      one.first.currency.localeCompare(other.first.currency) ||
      Number(other.price - one.price) ||
      other.messages - one.messages,
  );
}

function emptyGroup(first: MarginRow): MarginGroup {
  const compared = { messages: 0, price: 0n, cost: 0n };
  return { first, messages: 0, price: 0n, costs: new Map(), unknown: 0, compared };
}

function added(group: MarginGroup, row: MarginRow): MarginGroup {
  const { messages, currency, costCurrency } = row;
  const [price, cost] = [millionths(row.price), millionths(row.cost)];
  const { costs, compared } = group;
  const isKnown = costCurrency !== null;
  return {
    first: group.first,
    messages: group.messages + messages,
    price: group.price + price,
    costs: isKnown
      ? new Map(costs).set(costCurrency, (costs.get(costCurrency) ?? 0n) + cost)
      : costs,
    unknown: group.unknown + (isKnown ? 0 : messages),
    compared:
      costCurrency === currency
        ? {
            messages: compared.messages + messages,
            price: compared.price + price,
            cost: compared.cost + cost,
          }
        : compared,
  };
}

/** The whole millionths of a decimal text, for sums that no rounding touches. */
function millionths(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(6, '0'));
}
