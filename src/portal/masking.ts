import { type Address, readAddress } from '@dundun/messaging';

const DOT = '•';

/** The last two digits of a number, the first letter and the host of an e-mail address. */
export function maskedAddress({ kind, value }: Address): string {
  if (kind === 'email')
    return `${value.slice(0, 1)}${DOT.repeat(3)}${value.slice(value.lastIndexOf('@'))}`;
  const shown = value.length < 7 ? '' : value.slice(-2);
  return DOT.repeat(value.length - shown.length) + shown;
}

const NUMBER = /(?<![0-9A-Za-z._-])[1-9]\d{6,14}(?![0-9A-Za-z_]|-[0-9A-Za-z]|\.\d)/g;
const EMAIL = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+/g;

/** A text of a receiver, with numbers and e-mail addresses masked. */
export function maskedText(text: string): string {
  return text
    .replace(EMAIL, (value) => maskedAddress({ kind: 'email', value }))
    .replace(NUMBER, (value) => maskedAddress({ kind: 'phone', value }));
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
      if (address) return maskedAddress(address);
      return name === 'bsuid' ? DOT.repeat(value.length) : value;
    },
    2,
  );
}
