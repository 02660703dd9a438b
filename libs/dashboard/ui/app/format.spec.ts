import { expect, it } from '@jest/globals';
import { percent } from './format.js';

it.each([
  [0, 0, '–'],
  [0, 2_808, '0%'],
  [2_808, 2_808, '100%'],
  [2_800, 2_808, '99.7%'],
  [1, 2_808, '<0.1%'],
  [2_807, 2_808, '>99.9%'],
  [1, 1_000, '0.1%'],
  [5, 100, '5.0%'],
  [2, 3, '67%'],
])('%d of %d is %s: a part is never called none or all', (part, whole, text) => {
  expect(percent(part, whole)).toBe(text);
});
