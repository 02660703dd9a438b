import { expect, it } from '@jest/globals';

it('passes', () => {
  expect(1).toBe(1);
});

it('fails', () => {
  expect(process.env.FIXTURE_FAILS).toBeUndefined();
});
