import type { FieldError } from './errors.js';

const ZERO = 48;
export const NO_PHONE_NUMBER =
  'must be a phone number: 7 to 15 digits with country code, such as 2348012345678';
const DECORATION = /^\+|[\s\-().]/g;

/** Digits with country code, 7–15 of them (E.164 without the plus). */
export function isPhoneNumber(value: unknown): value is string {
  return typeof value === 'string' && phoneNumberValue(value) > 0;
}

/** Removes a leading plus, spaces, dashes, dots and brackets. */
export function normalisePhoneNumber(value: string): string {
  return phoneNumberValue(value) > 0 ? value : value.trim().replace(DECORATION, '');
}

/** The normalised number; adds an error to `errors` where it is wrong. */
export function checkedPhoneNumber(path: string, value: unknown, errors: FieldError[]): string {
  const number = typeof value === 'string' ? normalisePhoneNumber(value) : '';
  if (!isPhoneNumber(number)) errors.push({ path, message: NO_PHONE_NUMBER });
  return number;
}

/** `23480******78`: distinguishable in a log, not callable. */
export function maskPhoneNumber(value: string): string {
  return value.length < 8
    ? '****'
    : `${value.slice(0, 5)}${'*'.repeat(value.length - 7)}${value.slice(-2)}`;
}

/** Numeric value of a number of 7 to 15 digits without a leading zero; 0 for any other text. */
export function phoneNumberValue(number: string): number {
  const { length } = number;
  if (length < 7 || length > 15 || number.charCodeAt(0) === ZERO) return 0;
  let value = 0;
  for (let index = 0; index < length; index++) {
    const digit = number.charCodeAt(index) - ZERO;
    if (digit < 0 || digit > 9) return 0;
    value = value * 10 + digit;
  }
  return value;
}
