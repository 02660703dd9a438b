import type { MarginRow } from '../portal-api.js';

/** Sums of rows with one currency of their price, and one of their cost. Amounts are millionths. */
export interface MarginGroup {
  readonly first: MarginRow;
  readonly messages: number;
  readonly price: bigint;
  readonly cost: bigint;
}

/** The margin; `undefined`: the cost is not known, or is in another currency. */
export function marginOf({ first, price, cost }: MarginGroup): bigint | undefined {
  return first.costCurrency === first.currency ? price - cost : undefined;
}

/** The margin as a share of the price, such as `33.3%`. */
export function marginShare(group: MarginGroup): string {
  const margin = marginOf(group);
  if (margin === undefined || group.price === 0n) return '–';
  const half = margin < 0n ? -group.price : group.price;
  const tenths = (margin * 2_000n + half) / (2n * group.price);
  return `${(Number(tenths) / 10).toFixed(1)}%`;
}

/** Adds rows by a name and their currencies; by currency, those with the highest price first. */
export function marginGroups(
  rows: Iterable<MarginRow>,
  nameOf: (row: MarginRow) => string,
): readonly MarginGroup[] {
  const groups = new Map<string, MarginGroup>();
  for (const row of rows) {
    const name = `${row.currency} ${row.costCurrency ?? ''} ${nameOf(row)}`;
    const known = groups.get(name) ?? { first: row, messages: 0, price: 0n, cost: 0n };
    groups.set(name, {
      first: known.first,
      messages: known.messages + row.messages,
      price: known.price + millionths(row.price),
      cost: known.cost + millionths(row.cost),
    });
  }
  return [...groups.values()].toSorted(
    (one, other) =>
      one.first.currency.localeCompare(other.first.currency) ||
      Number(other.price - one.price) ||
      other.messages - one.messages,
  );
}

/** The whole millionths of a decimal text, for sums that no rounding touches. */
function millionths(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(6, '0'));
}
