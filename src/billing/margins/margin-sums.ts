/** What a row of margins is about. */
export interface MarginKey {
  /** In which its messages were accepted, such as `2026-11`. */
  readonly month: string;
  readonly accountId: string;
  readonly channel: string;
  /** Of the last submission; empty: not known. */
  readonly carrier: string;
  /** ISO 3166 alpha-2; empty: none, or not known. */
  readonly country: string;
  readonly currency: string;
  /** Empty: the cost is not known. */
  readonly costCurrency: string;
}

/** Amounts are millionths. */
export interface MarginSum {
  /** That a carrier took, or that were charged. */
  readonly messages: number;
  readonly parts: number;
  readonly price: bigint;
  readonly cost: bigint;
}

export type Margin = MarginKey & MarginSum;

export class MarginSums {
  readonly #sums = new Map<string, Margin>();

  add({ messages, parts, price, cost, ...key }: Margin): void {
    const name = nameOf(key);
    const known = this.#sums.get(name) ?? { ...key, messages: 0, parts: 0, price: 0n, cost: 0n };
    this.#sums.set(name, {
      ...known,
      messages: known.messages + messages,
      parts: known.parts + parts,
      price: known.price + price,
      cost: known.cost + cost,
    });
  }

  /** In the order of their keys, in which every process locks their rows. */
  get all(): readonly Margin[] {
    return [...this.#sums]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, sum]) => sum);
  }
}

function nameOf(key: MarginKey): string {
  const { month, accountId, channel, carrier, country, currency, costCurrency } = key;
  return [month, accountId, channel, carrier, country, currency, costCurrency].join(' ');
}
