/**
 * Amounts of money are whole millionths of their currency's unit inside, and decimal texts outside. No
 * amount passes through a floating-point number.
 */

const DIGITS = 6;

/** Digits after the point that every text has. */
const SHOWN = 2;

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

/** The decimal text of millionths, with two to six digits after the point: `5000.00`, `-0.0125`. */
export function amountText(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(DIGITS + 1, '0');
  const whole = digits.slice(0, -DIGITS);
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '').padEnd(SHOWN, '0');
  return `${amount < 0n ? '-' : ''}${whole}.${fraction}`;
}

/** The price of so many units. @throws RangeError where `units` is not whole */
export function priceOf(units: number, price: bigint): bigint {
  return price * BigInt(units);
}

/** A code in the form of ISO 4217, such as `NGN`. */
export function isCurrency(text: unknown): text is string {
  return typeof text === 'string' && CURRENCY.test(text);
}
