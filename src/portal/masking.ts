import { readAddress } from '@dundun/messaging';
import { partialAddress } from '@dundun/messaging/values';

const DOT = '•';

const NUMBER = /(?<![0-9A-Za-z._-])\+?([1-9]\d{6,14})(?![0-9A-Za-z_]|-[0-9A-Za-z]|\.\d)/g;
const EMAIL = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+/g;

/** A text of a receiver, with numbers and e-mail addresses masked. */
export function maskedText(text: string): string {
  return text
    .replace(EMAIL, (value) => partialAddress({ kind: 'email', value }))
    .replace(NUMBER, (_, value: string) => partialAddress({ kind: 'phone', value }));
}

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
