/** Digits after the point of the smallest amount. */
const DIGITS = 6;

/** Compares decimal texts such as `'4.50'` without rounding. */
export function isLess(amount: string, other: string): boolean {
  return millionths(amount) < millionths(other);
}

function millionths(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, '0'));
}
