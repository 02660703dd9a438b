import { expect, it } from '@jest/globals';
import { Seed } from './seed.js';

/** The first chances of a test. */
function drawn(value: number, test: string): number[] {
  const seed = new Seed(value);
  seed.begin(test);
  return Array.from({ length: 50 }, () => seed.below(1_000));
}

it('one seed draws the same random numbers for one test, independent of earlier tests', () => {
  const seed = new Seed(7);
  seed.begin('another test');
  for (let n = 0; n < 13; n++) seed.below(10);
  seed.begin('a test');
  expect(Array.from({ length: 50 }, () => seed.below(1_000))).toEqual(drawn(7, 'a test'));
});

it('another seed or test draws other random numbers, all within their bounds', () => {
  const chances = drawn(7, 'a test');
  expect(drawn(8, 'a test')).not.toEqual(chances);
  expect(drawn(7, 'b test')).not.toEqual(chances);
  expect(new Set(chances).size).toBeGreaterThan(30);
  for (const chance of chances) {
    expect(Number.isInteger(chance)).toBe(true);
    expect(chance).toBeGreaterThanOrEqual(0);
    expect(chance).toBeLessThan(1_000);
  }
});
