import { readAddress } from '@dundun/messaging';
import { partialAddress } from '@dundun/messaging/values';

const DOT = '•';

/** Fields of a callback with an address. */
const ADDRESSES = new Set(['to', 'from', 'bsuid']);

/** JSON of a callback, with the addresses of people masked and the text of a message left out. */
export function maskedCallback(payload: string): string {
  return JSON.stringify(
    JSON.parse(payload),
    (name, value: unknown) => {
      if (typeof value !== 'string') return value;
      if (name === 'text') return DOT.repeat(3);
      const address = ADDRESSES.has(name) ? readAddress(value, ['phone', 'email']) : undefined;
      if (address) return partialAddress(address);
      return name === 'bsuid' ? partialAddress({ kind: 'platform', value }) : value;
    },
    2,
  );
}
