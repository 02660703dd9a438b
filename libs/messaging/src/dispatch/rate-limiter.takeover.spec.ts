import { expect, it } from '@jest/globals';
import { RateLimiter } from './rate-limiter.js';

const PER = 1_000;

it('who does not know what a crashed holder started hands that on, however soon it releases', () => {
  const second = new RateLimiter(10, PER);
  second.holdUntil(1_000 + PER);
  const third = new RateLimiter(10, PER);
  third.restore(second.save(1_200), 1_200);
  expect(second.delay(1, 1_200)).toBeGreaterThanOrEqual(PER - 200);
  expect(third.delay(1, 1_200)).toBeGreaterThanOrEqual(PER);
  // And so does the third.
  const fourth = new RateLimiter(10, PER);
  fourth.restore(third.save(1_300), 1_300);
  expect(fourth.delay(1, 1_300)).toBeGreaterThanOrEqual(PER);
});

it('once the wait is over its own starts are what it hands on', () => {
  const second = new RateLimiter(2, PER);
  second.holdUntil(1_000);
  second.start(1, 1_500);
  const third = new RateLimiter(2, PER);
  third.restore(second.save(1_600), 1_600);
  expect(third.delay(2, 1_600)).toBeGreaterThanOrEqual(PER - 100);
  expect(third.delay(2, 1_500 + PER * 1.1)).toBe(0);
});
