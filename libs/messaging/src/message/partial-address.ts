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
  const code = [1, 2, 3].map((length) => digits.slice(0, length)).find((one) => one in CODES) ?? '';
  const national = digits.slice(code.length);
  const shown = national.length < START + HIDDEN.length + 1 ? 0 : START;
  const end = shown === 0 ? 0 : Math.min(END, national.length - START - HIDDEN.length);
  const parts = [
    code && `+${code}`,
    national.slice(0, shown),
    HIDDEN,
    national.slice(national.length - end),
  ];
  return parts.filter((part) => part !== '').join(' ');
}
