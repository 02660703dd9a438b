/** A decimal text with its thousands apart, such as `12,500.00`; the digits stay as they are. */
export function money(amount: string): string {
  const [whole = '', fraction = ''] = amount.split('.');
  return `${whole.replace(/\B(?=(?:\d{3})+$)/g, ',')}.${fraction}`;
}
