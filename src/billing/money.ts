/**
 * Amounts of money are whole millionths of their currency's unit inside, and decimal texts outside. No
 * amount passes through a floating-point number.
 */

export { amountText } from '@dundun/messaging/values';

const DIGITS = 6;

/** Largest amount, in millionths: twelve digits before the point. Sums of eight fit into 64 bits. */
export const LARGEST = 10n ** 18n - 1n;

const FORM = /^(-?)(\d{1,12})(?:\.(\d{1,6}))?$/;

const CURRENCY = /^[A-Z]{3}$/;

/**
 * Reads a decimal text with up to twelve digits before the point and six after it.
 * @returns millionths; `undefined`: the text has another form
 */
export function readAmount(text: unknown): bigint | undefined {
  const [, sign, whole = '', fraction = ''] = (typeof text === 'string' && FORM.exec(text)) || [];
  if (whole === '') return undefined;
  const amount = BigInt(whole + fraction.padEnd(DIGITS, '0'));
  return sign === '-' ? -amount : amount;
}

/** The price of so many units. @throws RangeError where `units` is not whole */
export function priceOf(units: number, price: bigint): bigint {
  return price * BigInt(units);
}

/** A code in the form of ISO 4217, such as `NGN`. */
export function isCurrency(text: unknown): text is string {
  return typeof text === 'string' && CURRENCY.test(text);
}
