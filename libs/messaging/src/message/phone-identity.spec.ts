import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressIdentity, formsOf } from './phone-identity.js';

describe('the identity of a number', () => {
  it.each([
    ['Mexico', ['525512345678', '5215512345678']],
    ['Brazil', ['5511987654321', '551187654321']],
    ['Brazil, outside São Paulo', ['5531976543210', '553176543210']],
    ['Argentina', ['541123456789', '5491123456789', '54111523456789', '549111523456789']],
    ['Argentina, area of 4 digits', ['542202123456', '5492202123456', '54220215123456']],
    ['Benin', ['2290197123456', '22997123456']],
    ['Ivory Coast, Orange', ['2250707123456', '22507123456']],
    ['Ivory Coast, MTN', ['2250545123456', '22545123456']],
    ['Ivory Coast, Moov', ['2250102123456', '22502123456']],
    ['Ivory Coast, fixed lines of Orange', ['2252722412345', '22522412345']],
    ['Ivory Coast, fixed lines of MTN', ['2252522012345', '22522012345']],
    ['Ivory Coast, fixed lines of Moov', ['2252122812345', '22522812345']],
  ])('%s: %j are one person', (_country, numbers) => {
    const [identity = ''] = numbers;
    expect(numbers.map(addressIdentity)).toEqual(numbers.map(() => identity));
    expect(formsOf(identity)).toEqual(expect.arrayContaining(numbers));
  });

  it.each([
    ['fixed lines of Brazil', '551133334444', '5511933334444'],
    ['trunk radio of Brazil', '551178123456', '5511978123456'],
    ['numbers of two operators of Ivory Coast', '2250707123456', '2250507123456'],
    ['areas of Mexico', '525512345678', '525612345678'],
    ['telephones of Argentina', '5491123456789', '5491123456780'],
  ])('%s: %s and %s are two people', (_country, one, other) => {
    expect(addressIdentity(one)).not.toBe(addressIdentity(other));
  });

  it.each(['55', '55 ', '551'])('a short text, %j, has itself alone as its form', (key) => {
    expect(formsOf(key)).toEqual([key]);
  });

  const codes = ['52', '54', '55', '225', '229'];
  const number = fc
    .tuple(fc.constantFrom(...codes, '1', '49', '234', '2', '5'), fc.stringMatching(/^\d{5,13}$/))
    .map(([code, rest]) => (code + rest).slice(0, 15));
  const anything = fc.oneof(number, fc.string(), fc.emailAddress(), fc.string({ unit: 'binary' }));

  it('is total and idempotent, for any text', () => {
    fc.assert(
      fc.property(anything, (key) => {
        const identity = addressIdentity(key);
        expect(addressIdentity(identity)).toBe(identity);
      }),
      { numRuns: 5_000 },
    );
  });

  it('never changes a number of another country, an e-mail address or a platform id', () => {
    fc.assert(
      fc.property(anything, (key) => {
        fc.pre(!codes.some((code) => key.startsWith(code) && /^\d+$/.test(key)));
        expect(addressIdentity(key)).toBe(key);
        expect(formsOf(key)).toEqual([key]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('the forms of an identity are all that have it', () => {
    fc.assert(
      fc.property(number, (key) => {
        const identity = addressIdentity(key);
        const forms = formsOf(identity);
        expect(forms).toContain(key);
        expect(new Set(forms.map(addressIdentity))).toEqual(new Set([identity]));
      }),
      { numRuns: 5_000 },
    );
  });
});
