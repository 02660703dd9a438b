import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPhoneNumber, normalisePhoneNumber } from './address.js';

/** The rule itself, as a pattern. */
const RULE = /^[1-9][0-9]{6,14}$/;
const digits = fc
  .tuple(fc.constantFrom(...'123456789'), fc.stringMatching(/^[0-9]{6,14}$/))
  .map(([first, rest]) => first + rest);

describe('isPhoneNumber', () => {
  it('a phone number is 7 to 15 digits without a leading zero', () => {
    fc.assert(
      fc.property(fc.oneof(digits, fc.string(), fc.stringMatching(/^[0-9]{0,20}$/)), (value) => {
        expect(isPhoneNumber(value)).toBe(RULE.test(value));
      }),
    );
  });

  it.each([
    2348012345678,
    null,
    undefined,
    ['2348012345678'],
    '２３４８０１２３４５６７８',
    '1234567\n',
  ])('%j is no phone number', (value) => expect(isPhoneNumber(value)).toBe(false));
});

it('removes the decoration of a number', () => {
  expect(normalisePhoneNumber('+44 7911 123.456')).toBe('447911123456');
});
