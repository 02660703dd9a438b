import type { BillingIncrement, Price } from '../../ports/rate-card.js';

/** Seconds that are billed for a call of `duration` seconds; 0 for a call that was not answered. */
export function billedSeconds(duration: number, { first, next }: BillingIncrement): number {
  if (!(duration > 0)) return 0;
  return first + Math.max(0, Math.ceil((duration - first) / next)) * next;
}

/** Further digits of a cost after those of its price. */
const DIGITS = 4;

/** The cost of `seconds` at a price per minute, rounded half up to four digits more than it has. */
export function costOf({ amount, currency }: Price, seconds: number): Price {
  const [whole = '', fraction = ''] = amount.split('.');
  const product = BigInt(whole + fraction + '0'.repeat(DIGITS)) * BigInt(seconds) * 2n;
  const digits = ((product + 60n) / 120n).toString();
  const scale = fraction.length + DIGITS;
  const padded = digits.padStart(scale + 1, '0');
  const cut = padded.length - scale;
  const least = cut + fraction.length;
  const decimals = padded.slice(cut, least) + padded.slice(least).replace(/0+$/, '');
  return { amount: padded.slice(0, cut) + (decimals && `.${decimals}`), currency };
}
