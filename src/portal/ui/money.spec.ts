import { expect, it } from '@jest/globals';
import { money } from './money.js';

it.each([
  ['0.00', '0.00'],
  ['999.5', '999.5'],
  ['-1000.00', '-1,000.00'],
  ['123456789012.000001', '123,456,789,012.000001'],
])('%s is shown as %s', (amount, shown) => {
  expect(money(amount)).toBe(shown);
});
