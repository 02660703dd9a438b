import type { FieldError } from './errors.js';

export const NO_PHONE_NUMBER =
  'must be a phone number: 7 to 15 digits with country code, such as 2348012345678';
const NUMBER = /^[1-9]\d{6,14}$/;
const DECORATION = /^\+|[\s\-().]/g;

/** Digits with country code, 7–15 of them (E.164 without the plus). */
export function isPhoneNumber(value: unknown): value is string {
  return typeof value === 'string' && NUMBER.test(value);
}

/** Removes a leading plus, spaces, dashes, dots and brackets. */
export function normalisePhoneNumber(value: string): string {
  return NUMBER.test(value) ? value : value.trim().replace(DECORATION, '');
}

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
