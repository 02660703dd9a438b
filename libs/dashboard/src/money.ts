/** Sum of decimal numbers such as `'0.0125'`, without rounding. */
export function addedUp(amounts: readonly string[]): string {
  const places = Math.max(0, ...amounts.map((amount) => amount.split('.')[1]?.length ?? 0));
  const units = amounts.reduce((sum, amount) => {
    const [whole = '0', part = ''] = amount.split('.');
    return sum + BigInt(whole + part.padEnd(places, '0'));
  }, 0n);
  const digits = String(units).padStart(places + 1, '0');
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
