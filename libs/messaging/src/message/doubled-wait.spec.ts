import { expect, it } from '@jest/globals';
import { doubledWait } from './doubled-wait.js';

it('a wait doubles from the first to the longest', () => {
  const waits = [0, 1, 2, 3, 4, 5_000].map((doublings) => doubledWait(10, doublings, 100));
  expect(waits).toEqual([10, 20, 40, 80, 100, 100]);
});

it('a wait with jitter stays in its range', () => {
  const waits = [0, 0.5, 1].map((random) => doubledWait(10, 2, 100, [0.5, 1], () => random));
  expect(waits).toEqual([20, 30, 40]);
});
