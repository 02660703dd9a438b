import { partialAddress } from '@dundun/messaging/values';

const NUMBER = /(?<![0-9A-Za-z._-])\+?([1-9]\d{6,14})(?![0-9A-Za-z_]|-[0-9A-Za-z]|\.\d)/g;
const EMAIL = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+/g;

/** A text of a provider or a receiver, with numbers and e-mail addresses masked. */
export function maskedText(text: string): string {
  return text
    .replace(EMAIL, (value) => partialAddress({ kind: 'email', value }))
    .replace(NUMBER, (_, value: string) => partialAddress({ kind: 'phone', value }));
}
