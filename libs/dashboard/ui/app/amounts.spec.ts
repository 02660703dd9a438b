import { expect, it } from '@jest/globals';
import { isLess, millionths, money, moneyOf } from './amounts.js';

it.each([
  ['4.50', '4.5', false],
  ['4.499999', '4.50', true],
  ['-0.50', '0.00', true],
  ['90071992547409.93', '90071992547409.94', true],
  ['10', '9.99', false],
])('%s is less than %s: %s', (amount, other, less) => {
  expect(isLess(amount, other)).toBe(less);
});

it.each([
  ['0.00', '0.00'],
  ['999.5', '999.5'],
  ['50000', '50,000'],
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
