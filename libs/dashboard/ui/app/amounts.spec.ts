import { expect, it } from '@jest/globals';
import { isLess } from './amounts.js';

it.each([
  ['4.50', '4.5', false],
  ['4.499999', '4.50', true],
  ['-0.50', '0.00', true],
  ['90071992547409.93', '90071992547409.94', true],
  ['10', '9.99', false],
])('%s is less than %s: %s', (amount, other, less) => {
  expect(isLess(amount, other)).toBe(less);
});
