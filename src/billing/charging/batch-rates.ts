import { OTHERS, type RateGroup } from '../rate-cards/rate-table.js';

/** The rate of recipients of a batch. */
export interface BatchRate {
  readonly prefix: string;
  /** Millionths for a part, a message or a minute. */
  readonly amount: bigint;
  /** Seconds of the first and of each further block, such as `60/60`; `null`: not billed by time. */
  readonly billing: string | null;
}

/** `234:4500000;44:20000000:60/60`: prefix, millionths, blocks. */
export function writeRates(groups: readonly RateGroup[]): string {
  return groups
    .map(({ rate: { prefix, amount, billing } }) =>
      [prefix, amount, ...(billing === null ? [] : [billing])].join(':'),
    )
    .join(';');
}

export function readRates(written: string): readonly BatchRate[] {
  if (written === '') return [];
  return written.split(';').map((one): BatchRate => {
    const [prefix = '', amount = '0', billing = null] = one.split(':');
    return { prefix, amount: BigInt(amount), billing };
  });
}

/**
 * The rate of a recipient, as the batch was accepted. An erased recipient has that of a batch with
 * one rate.
 * @returns `undefined`: the recipient was erased, and the batch has several rates
 */
export function rateOf(rates: readonly BatchRate[], recipient: string): BatchRate | undefined {
  if (rates.length === 1) return rates[0];
  if (recipient === '') return undefined;
  let found: BatchRate | undefined;
  for (const rate of rates) {
    const fits = rate.prefix === OTHERS || recipient.startsWith(rate.prefix);
    if (fits && (!found || found.prefix === OTHERS || rate.prefix.length > found.prefix.length))
      found = rate;
  }
  return found;
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

/** Seconds at a price per minute, rounded half up to a millionth. */
function timed(perMinute: bigint, seconds: number): bigint {
  return (perMinute * BigInt(seconds) * 2n + 60n) / 120n;
}
