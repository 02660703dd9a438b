import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { addressOfKey, readAddress } from './address.js';
import { partialAddress, showsDigits } from './partial-address.js';

const partial = (key: string) => partialAddress(addressOfKey(key));

it('a partly shown number has its calling code, three digits, and at most the last four', () => {
  expect(partial('2348012345678')).toBe('+234 801 ••• 5678');
  expect(partial('12125550123')).toBe('+1 212 ••• 0123');
  expect(partial('447911123456')).toBe('+44 791 ••• 3456');
  expect(partial('33612345678')).toBe('+33 612 ••• 678');
  expect(partial('4512345678')).toBe('+45 123 ••• 78');
});

it('a short number shows less, and a text without a calling code only its digits', () => {
  expect(partial('29012345')).toBe('+290 •••');
  expect(partial('2391234567')).toBe('+239 123 ••• 7');
  expect(partial('2101234567')).toBe('210 ••• 4567');
  expect(partial('32123')).toBe('+32 •••');
});

it('a partly shown e-mail address keeps its first letter and its host, a platform id nothing', () => {
  expect(partial('ada@example.com')).toBe('a•••@example.com');
  expect(partial('platform:NG.123456789')).toBe('platform:•••');
});

it('digits are shown that stand together on one side of the hidden ones', () => {
  const parts = ['234', '801', '234801', '567', '5678'];
  for (const part of parts)
    expect([part, showsDigits('2348012345678', part)]).toEqual([part, true]);
  for (const part of ['8012', '234567', '4567', '8015678', '2348012345678'])
    expect([part, showsDigits('2348012345678', part)]).toEqual([part, false]);
});

it('no part of three digits or more tells a hidden digit', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[1-9]\d{6,14}$/), (number) => {
      const shown = partial(number);
      const known = shown.split('•••').map((side) => side.replaceAll(/\D/g, ''));
      for (let from = 0; from < number.length; from++)
        for (let to = from + 3; to <= number.length; to++) {
          const part = number.slice(from, to);
          const isKnown = known.some((side) => side.includes(part));
          expect([shown, part, showsDigits(number, part)]).toEqual([shown, part, isKnown]);
        }
    }),
  );
});

it('at least three digits of a number are hidden, and the text is not read as an address', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[1-9]\d{6,14}$/), (number) => {
      const shown = partial(number);
      expect(number.length - shown.replaceAll(/\D/g, '').length).toBeGreaterThanOrEqual(3);
      expect(readAddress(shown)).toBeUndefined();
    }),
  );
});
