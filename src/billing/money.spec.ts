import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { amountText, isCurrency, LARGEST, priceOf, readAmount } from './money.js';

const amounts = fc.bigInt({ min: -LARGEST, max: LARGEST });

describe('amounts of money', () => {
  it('every amount is read back from its text', () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        const text = amountText(amount);
        expect(text).toMatch(/^-?\d{1,12}\.\d{2,6}$/);
        expect(readAmount(text)).toBe(amount);
      }),
    );
  });

  it('a text and its form with further zeros are one amount', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 6 }), (amount, digits) => {
        const [whole = '', fraction = ''] = amountText(amount).split('.');
        const padded = `${whole}.${fraction.padEnd(digits, '0')}`;
        expect(readAmount(padded)).toBe(amount);
      }),
    );
  });

  it('the order of amounts is that of their decimal numbers, also where a float has too few digits', () => {
    expect(readAmount('999999999999.999999')).toBe(LARGEST);
    expect(readAmount('999999999999.999998')).toBe(LARGEST - 1n);
    expect(amountText(LARGEST)).toBe('999999999999.999999');
    expect(amountText(9_007_199_254_740_993n)).toBe('9007199254.740993');
  });

  it('the price of units is the sum of their prices', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 9n }),
        fc.integer({ min: 0, max: 50 }),
        (price, units) => {
          let sum = 0n;
          for (let unit = 0; unit < units; unit++) sum += price;
          expect(priceOf(units, price)).toBe(sum);
        },
      ),
    );
    expect(priceOf(100_000, 4_500_001n)).toBe(450_000_100_000n);
    expect(() => priceOf(1.5, 1n)).toThrow(RangeError);
  });

  it.each([
    ['5000', '5000.00'],
    ['5000.0', '5000.00'],
    ['-12.5', '-12.50'],
    ['0.0125', '0.0125'],
    ['0.000001', '0.000001'],
    ['007.10', '7.10'],
    ['-0', '0.00'],
  ])('%s is shown as %s', (written, shown) => {
    expect(amountText(readAmount(written) ?? -1n)).toBe(shown);
  });

  it.each([
    ['an empty text', ''],
    ['a sign alone', '-'],
    ['a plus', '+5'],
    ['a point without digits', '5.'],
    ['no digit before the point', '.5'],
    ['seven digits after the point', '0.0000001'],
    ['thirteen digits before the point', '1000000000000'],
    ['an exponent', '1e3'],
    ['a comma', '1,5'],
    ['white space', ' 5'],
    ['a number', 5],
    ['null', null],
  ])('%s is no amount', (_, written) => {
    expect(readAmount(written)).toBeUndefined();
  });

  it('a currency is three capital letters', () => {
    expect(['NGN', 'USD'].every(isCurrency)).toBe(true);
    expect(['ngn', 'NAIRA', 'N1N', '', null].some(isCurrency)).toBe(false);
  });
});
