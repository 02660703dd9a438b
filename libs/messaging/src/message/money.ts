/** Digits after the point that a stored amount keeps. */
const DIGITS = 4;

const AMOUNT = new RegExp(`^(0|[1-9]\\d{0,9})(?:\\.(\\d{1,${DIGITS}}))?$`);

/**
 * An amount as a whole number of ten-thousandths; `undefined`: no decimal number of at most ten
 * digits before the point and four after it.
 */
export function unitsOf(amount: unknown): bigint | undefined {
  const [, whole, fraction = ''] = (typeof amount === 'string' && AMOUNT.exec(amount)) || [];
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(DIGITS, '0'));
}

/** The amount in its shortest form, such as `'100'` or `'0.5'`. */
export function amountOf(units: bigint): string {
  const digits = units.toString().padStart(DIGITS + 1, '0');
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '');
  return digits.slice(0, -DIGITS) + (fraction && `.${fraction}`);
}

const digits = new Map<string, number>();

/** Digits after the point that amounts of the currency have, by ISO 4217; two of an unknown one. */
export function digitsOf(currency: string): number {
  let found = digits.get(currency);
  if (found === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    found = Math.min(format.resolvedOptions().maximumFractionDigits ?? DIGITS, DIGITS);
    digits.set(currency, found);
  }
  return found;
}

/** Whether the amount has no more digits after the point than its currency. */
export function fitsCurrency(units: bigint, currency: string): boolean {
  return units % 10n ** BigInt(DIGITS - digitsOf(currency)) === 0n;
}

const MILLIONTHS = 6;

/** Digits after the point that every text has. */
const SHOWN = 2;

/** The decimal text of millionths, with two to six digits after the point: `5000.00`, `-0.0125`. */
export function amountText(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(MILLIONTHS + 1, '0');
  const whole = digits.slice(0, -MILLIONTHS);
  const fraction = digits.slice(-MILLIONTHS).replace(/0+$/, '').padEnd(SHOWN, '0');
  return `${amount < 0n ? '-' : ''}${whole}.${fraction}`;
}
