import { expect, it } from '@jest/globals';
import { millionths, money, moneyOf } from './money.js';

it.each([
  ['0.00', '0.00'],
  ['999.5', '999.5'],
  ['-1000.00', '-1,000.00'],
  ['123456789012.000001', '123,456,789,012.000001'],
])('%s is shown as %s', (amount, shown) => {
  expect(money(amount)).toBe(shown);
});

it.each(['0.00', '-0.000001', '-1,000.50', '123,456,789,012.000001'])(
  '%s survives a sum in millionths',
  (shown) => {
    expect(moneyOf(millionths(shown.replaceAll(',', '')))).toBe(shown);
  },
);
