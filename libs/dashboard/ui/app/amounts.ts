import type { MessageMoney } from '../../src/api.js';

/** Digits after the point of the smallest amount. */
const DIGITS = 6;

/** Digits after the point that every text has. */
const SHOWN = 2;

/** Compares decimal texts such as `'4.50'` without rounding. */
export function isLess(amount: string, other: string): boolean {
  return millionths(amount) < millionths(other);
}

/** A decimal text with its thousands apart, such as `12,500.00`; the digits stay as they are. */
export function money(amount: string): string {
  const [whole = '', ...fraction] = amount.split('.');
  return [whole.replace(/\B(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}

/** The whole millionths of a decimal text, for sums that no rounding touches. */
export function millionths(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, '0'));
}

/** The decimal text of millionths with its thousands apart, such as `-1,250.00`. */
export function moneyOf(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(DIGITS + 1, '0');
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '').padEnd(SHOWN, '0');
  return `${amount < 0n ? '-' : ''}${money(`${digits.slice(0, -DIGITS)}.${fraction}`)}`;
}

/** Price and cost of a message with their titles, as far as they are known. */
export function moneyOfMessage({
  price,
  priceCurrency,
  cost,
  currency,
}: MessageMoney): readonly (readonly [title: 'Price' | 'Cost', amount: string])[] {
  const shownPrice =
    price === null ? [] : [['Price', `${money(price)} ${priceCurrency ?? ''}`] as const];
  const shownCost = cost === null ? [] : [['Cost', `${money(cost)} ${currency ?? ''}`] as const];
  return [...shownPrice, ...shownCost];
}
