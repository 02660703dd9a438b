import { expect, it } from '@jest/globals';
import { ThrottleMemory } from './throttle-memory.js';

it('the throttle memory forgets the oldest entries first', () => {
  const memory = new ThrottleMemory();
  expect(memory.isNew('a')).toBe(true);
  expect(memory.isNew('a')).toBe(false);
  for (let index = 0; index < 9_999; index++) memory.isNew(`${index}`);
  expect(memory.isNew('a')).toBe(false);
  memory.isNew('one more');
  expect(memory.isNew('a')).toBe(true);
  expect(memory.isNew('9998')).toBe(false);
});
