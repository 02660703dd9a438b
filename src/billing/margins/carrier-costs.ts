import type { GuardedMessage } from '@dundun/messaging/operations';

/** What a carrier charges for a message. */
export interface CarrierCost {
  /** Millionths. */
  readonly amount: bigint;
  readonly currency: string;
}

/** Fields of an answer or a report of a carrier. */
type Details = GuardedMessage['answer'];

/** The prefix that stands for every other recipient. */
const OTHERS = '*';

/** Digits of the finest price, and of an amount. */
const FINE = 12;
const MILLIONTHS = 6;

const FORM = /^(\d{1,12})(?:\.(\d+))?$/;

/** `prices` of a carrier: by prefix, of a message or a part of an SMS. */
export class CarrierPrices {
  readonly #prices: ReadonlyMap<string, bigint>;
  /** Of its prefixes, the longest first. */
  readonly #lengths: readonly number[];

  constructor(prices: Readonly<Record<string, string>>) {
    this.#prices = new Map(
      Object.entries(prices).map(([prefix, price]) => [
        prefix.replace('+', ''),
        unitsOf(price, FINE) ?? 0n,
      ]),
    );
    const lengths = new Set([...this.#prices.keys()].map(({ length }) => length));
    this.#lengths = [...lengths].toSorted((a, b) => b - a);
  }

  /** In millionths, rounded half up; `undefined`: there is no price for the recipient. */
  of(recipient: string, parts: number): bigint | undefined {
    const prefix = this.#lengths
      .map((length) => recipient.slice(0, length))
      .find((start) => this.#prices.has(start));
    const price = this.#prices.get(prefix ?? OTHERS);
    return price === undefined ? undefined : rounded(price * BigInt(parts));
  }
}

/** The cost that a carrier reports in its own words. @param currency where the report names none */
export function reportedCost(details: Details, currency?: string): CarrierCost | undefined {
  const given = details?.['cost'];
  const named = details?.['currency'] ?? currency;
  const cost = unitsOf(String(given ?? ''), FINE);
  if (cost === undefined || typeof named !== 'string' || !/^[A-Z]{3}$/.test(named))
    return undefined;
  return { amount: rounded(cost), currency: named };
}

/** Further digits are cut. */
function unitsOf(text: string, digits: number): bigint | undefined {
  const [, whole = '', fraction = ''] = FORM.exec(text) ?? [];
  if (whole === '') return undefined;
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
}

function rounded(fine: bigint): bigint {
  const step = 10n ** BigInt(FINE - MILLIONTHS);
  return (fine + step / 2n) / step;
}
