import { expect, it } from '@jest/globals';
import { setTimeout } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { MemoryRelease } from './memory-release.js';

const OBJECTS = 1_500_000;

/** More than 100 MiB of objects that two collections of young objects have moved to the old ones. */
function largeWork(): number {
  const kept = Array.from({ length: OBJECTS }, (_, n) => ({ n, text: `message ${n}` }));
  return kept.length;
}

/** Bytes that the process holds for old objects. */
function held(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => name === 'old_space');
  return spaces.reduce((sum, { physical_space_size: bytes }) => sum + bytes, 0);
}

it('an idle process returns the memory of large work to the system, a busy one does not', async () => {
  const release = new MemoryRelease();
  const before = held();
  expect(largeWork()).toBe(OBJECTS);
  release.look();
  expect(held() - before).toBeGreaterThan(100 * 2 ** 20);

  await setTimeout(1_000);
  release.look();
  expect(held() - before).toBeLessThan(32 * 2 ** 20);
});
