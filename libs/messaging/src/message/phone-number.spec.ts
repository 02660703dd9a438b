import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPhoneNumber, normalisePhoneNumber, normaliseRecipients } from './phone-number.js';

/** The rule itself, as a pattern. */
const RULE = /^[1-9][0-9]{6,14}$/;
const digits = fc
  .tuple(fc.constantFrom(...'123456789'), fc.stringMatching(/^[0-9]{6,14}$/))
  .map(([first, rest]) => first + rest);

describe('isPhoneNumber', () => {
  it('takes 7 to 15 digits without a leading zero, and nothing else', () => {
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
  ])('%j is none', (value) => expect(isPhoneNumber(value)).toBe(false));
});

describe('normaliseRecipients', () => {
  it('keeps each number once, in order of first appearance', () => {
    const few = fc.constantFrom('2348012345678', '447911123456', '999999999999999', '1000000');
    fc.assert(
      fc.property(fc.array(fc.oneof(few, digits), { maxLength: 300 }), (to) => {
        expect(normaliseRecipients(to)).toEqual({ recipients: [...new Set(to)], errors: [] });
      }),
    );
  });

  it('tells apart numbers that differ in one end only', () => {
    const to = Array.from({ length: 20_000 }, (_, n) => [
      `23480${10_000_000 + n}`,
      `${100_000 + n}00000000`,
      `${n + 1}4294967296`.padStart(7, '1'),
    ]).flat();
    const valid = to.filter((number) => RULE.test(number));
    expect(normaliseRecipients(valid).recipients).toEqual([...new Set(valid)]);
  });

  it('knows a number again however it is written', () => {
    expect(
      normaliseRecipients(['+234 801-234 5678', '2348012345678', ' (234)8012345678 ']),
    ).toEqual({ recipients: ['2348012345678'], errors: [] });
    expect(normalisePhoneNumber('+44 7911 123.456')).toBe('447911123456');
  });

  it('names the first wrong entries by their place', () => {
    const to = ['2348012345678', '0123', 7, ...Array.from({ length: 20 }, () => 'x')];
    const { errors } = normaliseRecipients(to);
    expect(errors).toHaveLength(10);
    expect(errors.map(({ path }) => path).slice(0, 3)).toEqual(['to[1]', 'to[2]', 'to[3]']);
  });
});
