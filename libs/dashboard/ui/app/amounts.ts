/** Digits after the point of the smallest amount. */
const DIGITS = 6;

/** Compares decimal texts such as `'4.50'` without rounding. */
export function isLess(amount: string, other: string): boolean {
  return millionths(amount) < millionths(other);
}

/** A decimal text with its thousands apart, such as `12,500.00`; the digits stay as they are. */
export function money(amount: string): string {
  const [whole = '', ...fraction] = amount.split('.');
  return [whole.replace(/\B(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}

function millionths(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, '0'));
}
