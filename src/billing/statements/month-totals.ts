/** What a row of a month's totals is about. */
export interface MonthKey {
  readonly accountId: string;
  readonly channel: string;
  /** ISO 3166 alpha-2; empty: none, or not known. */
  readonly country: string;
  /** The credential that sent; `null`: none. */
  readonly spender: string | null;
}

/** `amount` in millionths; below zero: given back. */
export interface MonthSum {
  readonly messages: number;
  readonly parts: number;
  readonly amount: bigint;
}

export type MonthTotal = MonthKey & MonthSum;

/** Sums of the charges of one transaction, by account, channel, country and credential. */
export class MonthTotals {
  readonly #sums = new Map<string, MonthTotal>();

  add(key: MonthKey, { messages, parts, amount }: MonthSum): void {
    const { accountId, channel, country, spender } = key;
    const name = `${accountId} ${channel} ${country} ${spender ?? ''}`;
    const known = this.#sums.get(name) ?? { ...key, messages: 0, parts: 0, amount: 0n };
    this.#sums.set(name, {
      ...known,
      messages: known.messages + messages,
      parts: known.parts + parts,
      amount: known.amount + amount,
    });
  }

  get all(): readonly MonthTotal[] {
    return [...this.#sums.values()].filter(
      ({ messages, parts, amount }) => messages !== 0 || parts !== 0 || amount !== 0n,
    );
  }
}

const FORM = /^\d{4}-(?:0[1-9]|1[0-2])$/;

/** The month of UTC of a time in epoch milliseconds, such as `2026-11`. */
export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7);
}

/** Start of the month and of the next one, in epoch milliseconds; `undefined`: it is no month. */
export function boundsOf(month: string): readonly [start: number, end: number] | undefined {
  if (!FORM.test(month)) return undefined;
  const start = Date.parse(`${month}-01T00:00:00Z`);
  return [start, new Date(start).setUTCMonth(new Date(start).getUTCMonth() + 1)];
}
