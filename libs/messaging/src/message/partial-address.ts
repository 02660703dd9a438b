import metadata from 'libphonenumber-js/metadata.min';
import type { Address } from './address.js';

const HIDDEN = '•••';

/** Digits of the national part that are shown at its start, and at most at its end. */
const START = 3;
const END = 4;

const CODES: Readonly<Record<string, unknown>> = metadata.country_calling_codes;

/**
 * The address as a page shows it to a reader who may not see it whole: `+234 801 ••• 5678`,
 * `a•••@example.com`, `platform:•••`. At least three digits are hidden: a short number shows fewer
 * at its end, and one with less than seven digits after the calling code shows the code alone.
 */
export function partialAddress({ kind, value }: Address): string {
  switch (kind) {
    case 'phone':
      return partialNumber(value);
    case 'email':
      return `${value.slice(0, 1)}${HIDDEN}${value.slice(value.lastIndexOf('@'))}`;
    case 'platform':
      return `platform:${HIDDEN}`;
  }
}

function partialNumber(digits: string): string {
  const { code, start, end } = shownOf(digits);
  return [code && `+${code}`, start, HIDDEN, end].filter((part) => part !== '').join(' ');
}

/** Whether a number has digits, one after the other, among those that {@link partialAddress} shows on one side. */
export function showsDigits(number: string, part: string): boolean {
  const { code, start, end } = shownOf(number);
  return `${code}${start}`.includes(part) || end.includes(part);
}

function shownOf(digits: string) {
  const code = [1, 2, 3].map((length) => digits.slice(0, length)).find((one) => one in CODES) ?? '';
  const national = digits.slice(code.length);
  const shown = national.length < START + HIDDEN.length + 1 ? 0 : START;
  const end = shown === 0 ? 0 : Math.min(END, national.length - START - HIDDEN.length);
  return { code, start: national.slice(0, shown), end: national.slice(national.length - end) };
}
