/**
 * How an SMSC writes the ids of messages: the same in answers and receipts (`text`), hexadecimal in
 * answers and decimal in receipts (`hex`), or decimal in answers and hexadecimal in receipts (`decimal`).
 */
export type MessageIdFormat = 'text' | 'hex' | 'decimal';

/**
 * The forms under which the id of a receipt may have been answered to the submit, the likeliest first:
 * as written, without leading zeros, and converted by the format.
 * @example
 * messageIdForms('0000305441741', 'hex'); // ['0000305441741', '305441741', '1234abcd', '1234ABCD']
 */
export function messageIdForms(receiptId: string, format: MessageIdFormat = 'text'): string[] {
  const bare = withoutZeros(receiptId);
  return [...new Set([receiptId, bare, ...converted(bare, format)])];
}

/**
 * One form for all that `messageIdForms()` gives, to compare or to index by: without leading zeros, in
 * lower case, and decimal for a format other than `text`.
 * @param side where the id was read
 */
export function canonicalMessageId(
  id: string,
  format: MessageIdFormat,
  side: 'answer' | 'receipt',
): string {
  const bare = withoutZeros(id).toLowerCase();
  const isHex = format !== 'text' && (format === 'hex') === (side === 'answer');
  return isHex && /^[0-9a-f]+$/.test(bare) ? BigInt(`0x${bare}`).toString() : bare;
}

function converted(bare: string, format: MessageIdFormat): string[] {
  switch (format) {
    case 'text':
      return [];
    case 'hex': {
      if (!/^\d+$/.test(bare)) return [];
      const hex = BigInt(bare).toString(16);
      return [hex, hex.toUpperCase()];
    }
    case 'decimal':
      return /^[0-9a-f]+$/i.test(bare) ? [BigInt(`0x${bare}`).toString()] : [];
  }
}

function withoutZeros(id: string): string {
  return id.replace(/^0+(?=.)/, '');
}
