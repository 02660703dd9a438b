import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parsePhoneNumberFromString } from 'libphonenumber-js/core';
import metadata from 'libphonenumber-js/metadata.min';
import { readAddress, readRecipients } from './address.js';
import {
  isPhoneNumber,
  normalisePhoneNumber,
  withoutTrunkPrefix,
  withTrunkPrefix,
} from './phone-number.js';

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

describe('the prefix that is dialled within a country only', () => {
  it.each([
    ['+44 (0)20 7946 0958', '442079460958'],
    ['+234 0801 234 5678', '2348012345678'],
    ['4402079460958', '442079460958'],
    ['+49 (0)171 1234567', '491711234567'],
    ['+36 (06) 20 123 4567', '36201234567'],
    ['+7 (8) 912 345-67-89', '79123456789'],
    ['+375 8 029 123 45 67', '375291234567'],
    ['+54 (011) 15-2345-6789', '5491123456789'],
    ['+55 (0) 21 11 3333-4444', '551133334444'],
    ['+1 (1) 212 555 0123', '12125550123'],
    ['370861234567', '37061234567'],
    ['370061234567', '37061234567'],
  ])('%s is read as %s', (given, number) => {
    expect(readAddress(given)?.value).toBe(number);
    expect(readRecipients([given], ['phone']).recipients).toEqual([number]);
  });

  it.each([
    ['Italy', '390612345678'],
    ['Ivory Coast', '2250712345678'],
    ['Ivory Coast with 8 digits', '22507123456'],
    ['Gabon', '24106031234'],
    ['Congo', '242061234567'],
    ['Burkina Faso', '22601234567'],
    ['Rwanda', '25006123456'],
    ['Tajikistan', '992012345678'],
    ['Benin with 8 digits', '22997123456'],
    ['Benin', '2290197123456'],
    ['Mexico with 1', '5215512345678'],
    ['Brazil without the ninth digit', '551187654321'],
    ['Argentina with 9', '5491123456789'],
    ['Argentina with 15', '54111523456789'],
    ['a free number of Russia', '78005553535'],
    ['Lithuania', '37061234567'],
    ['the United States', '12125550123'],
    ['the Bahamas', '12423570000'],
    ['Brazil in area 11', '5511987654321'],
    ['a number of no known length', '440123'],
  ])('a number of %s stays as it is: %s', (_country, number) => {
    expect(withoutTrunkPrefix(number)).toBeUndefined();
    expect(normalisePhoneNumber(`+${number}`)).toBe(number);
  });

  it.each(['0044 20 7946 0958', 'tel:+442079460958', '+44 20 7946 0958 ext. 5', '‎+442079460958'])(
    '%j is refused',
    (given) => expect(readAddress(given, ['phone'])).toBeUndefined(),
  );

  it('any prefix that is removed is one that libphonenumber removes, too', () => {
    const codes = fc.constantFrom(...Object.keys(metadata.country_calling_codes));
    const rest = fc.stringMatching(/^[018][0-9]{4,12}$/);
    fc.assert(
      fc.property(codes, rest, (code, dialled) => {
        const given = (code + dialled).slice(0, 15);
        const right = withoutTrunkPrefix(given);
        const read = parsePhoneNumberFromString(`+${given}`, metadata);
        if (right === undefined) return;
        expect(read?.number).toBe(`+${right}`);
        expect(withoutTrunkPrefix(right)).toBeUndefined();
        const isOneDigit = given === code + dialled.slice(0, 1) + right.slice(code.length);
        const isFound = withTrunkPrefix(right).includes(given);
        expect(isFound || !isOneDigit || !isPhoneNumber(right)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it('every valid number that libphonenumber finds behind a zero is found', () => {
    const shared = new Set(['44', '61', '262', '590', '261']);
    const alone = Object.keys(metadata.country_calling_codes).filter((code) => !shared.has(code));
    fc.assert(
      fc.property(fc.constantFrom(...alone), fc.stringMatching(/^0[0-9]{4,12}$/), (code, rest) => {
        const given = (code + rest).slice(0, 15);
        const read = parsePhoneNumberFromString(`+${given}`, metadata);
        fc.pre(read?.isValid() === true && read.number !== `+${given}`);
        expect(`+${withoutTrunkPrefix(given)}`).toBe(read?.number);
      }),
      { numRuns: 500 },
    );
  });
});
