import { OTHERS, type RateGroup } from '../rate-cards/rate-table.js';
import { FREE } from './reported-price.js';

/** The rate of recipients of a batch. */
export interface BatchRate {
  readonly prefix: string;
  /** Millionths for a part, a message or a minute. */
  readonly amount: bigint;
  /** Seconds of the first and of each further block, such as `60/60`; `null`: not billed by time. */
  readonly billing: string | null;
}

/** Rates that count where the platform bills the only message of a batch in another category. */
type ReportedRates = ReadonlyMap<string, RateGroup['rate']>;

/** `234:4500000;44:20000000:60/60;*:9000000::marketing`: prefix, millionths, blocks, category. */
export function writeRates(
  groups: readonly Pick<RateGroup, 'rate'>[],
  reported: ReportedRates = new Map(),
): string {
  const own = groups.map(({ rate }) => written(rate));
  const others = [...reported].map(([category, rate]) => written(rate, category));
  return [...own, ...others].join(';');
}

function written({ prefix, amount, billing }: RateGroup['rate'], category?: string): string {
  const parts = [prefix, amount, billing ?? '', category ?? ''];
  while (parts.at(-1) === '') parts.pop();
  return parts.join(':');
}

/** The rates under which a batch was accepted. */
export class BatchRates {
  readonly #byPrefix = new Map<string, BatchRate>();
  readonly #reported = new Map<string, BatchRate>();
  /** Of its prefixes, the longest first. */
  readonly #lengths: readonly number[];

  /** @param written see {@link writeRates} */
  constructor(written: string) {
    for (const one of written === '' ? [] : written.split(';')) {
      const [prefix = '', amount = '0', billing = '', category = ''] = one.split(':');
      const rate = { prefix, amount: BigInt(amount), billing: billing || null };
      if (category === '') this.#byPrefix.set(prefix, rate);
      else this.#reported.set(category, rate);
    }
    const lengths = new Set([...this.#byPrefix.keys()].map(({ length }) => length));
    this.#lengths = [...lengths].toSorted((a, b) => b - a);
  }

  /**
   * The rate of a recipient. An erased recipient has that of a batch with one rate.
   * @returns `undefined`: the recipient was erased, and the batch has several rates
   */
  of(recipient: string): BatchRate | undefined {
    if (this.only || recipient === '') return this.only;
    for (const length of this.#lengths) {
      const rate = this.#byPrefix.get(recipient.slice(0, length));
      if (rate) return rate;
    }
    return this.#byPrefix.get(OTHERS);
  }

  /** The rate of all recipients; `undefined`: there are several. */
  get only(): BatchRate | undefined {
    return this.#byPrefix.size === 1 ? [...this.#byPrefix.values()][0] : undefined;
  }

  /** Whether a charge depends on data of reports: on seconds, or on the platform's category. */
  get needsDetails(): boolean {
    return (
      this.#reported.size > 0 ||
      [...this.#byPrefix.values()].some(({ billing }) => billing !== null)
    );
  }

  /** The rate of the only message where the platform bills it in this category. */
  inCategory(category: string): BatchRate | undefined {
    return this.#reported.get(category);
  }
}

/** What a message of a rate reserves: a call its first block. */
export function reservationOf({ amount, billing }: BatchRate, units: number): bigint {
  if (billing === null) return amount * BigInt(units);
  const [first = '0'] = billing.split('/');
  return timed(amount, Number(first));
}

/** What a message costs. @param seconds of a call; `undefined`: not known, it is one block */
export function chargeOf(rate: BatchRate, units: number, seconds: number | undefined): bigint {
  if (rate.billing === null || seconds === undefined) return reservationOf(rate, units);
  const [first = 0, next = 0] = rate.billing.split('/').map(Number);
  if (seconds <= 0) return 0n;
  return timed(rate.amount, first + Math.max(0, Math.ceil((seconds - first) / next)) * next);
}

/** What a message costs whose platform has reported how it bills it. @param rate of its own category */
export function reportedChargeOf(
  rates: BatchRates,
  rate: BatchRate,
  reported: string,
  units: number,
): bigint {
  if (reported === FREE) return 0n;
  return reservationOf(rates.inCategory(reported) ?? rate, units);
}

/** Seconds at a price per minute, rounded half up to a millionth. */
function timed(perMinute: bigint, seconds: number): bigint {
  return (perMinute * BigInt(seconds) * 2n + 60n) / 120n;
}
