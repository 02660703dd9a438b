import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { MemoryRelease } from './memory-release.js';

const MIB = 2 ** 20;

interface GcEntry {
  readonly detail: { readonly kind: number; readonly flags: number };
}

/** Full collections that the process asked for. */
let collections = 0;
const observer = new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries() as unknown as readonly GcEntry[]) {
    const { kind, flags } = detail;
    if (
      kind === constants.NODE_PERFORMANCE_GC_MAJOR &&
      flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED
    )
      collections++;
  }
});
beforeAll(() => observer.observe({ entryTypes: ['gc'] }));
afterAll(() => observer.disconnect());

/** Bytes that the process holds for old objects, and for buffers. */
function held(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => name === 'old_space');
  const { arrayBuffers } = process.memoryUsage();
  return spaces.reduce((sum, { physical_space_size: bytes }) => sum + bytes, arrayBuffers);
}

/** Makes objects, in arrays below the size of large objects, until the heap has grown by 256 MiB; returns the bytes held. */
function manyObjects(): number {
  const { heapTotal } = process.memoryUsage();
  const kept: object[][] = [];
  while (process.memoryUsage().heapTotal < heapTotal + 256 * MIB)
    kept.push(Array.from({ length: 1_000 }, (_, n) => ({ n, text: `message ${n}` })));
  return held();
}

/** Makes buffers of 24 MiB, as large mails leave, which V8 leaves where they are; returns the bytes that are held. */
function manyBuffers(): number {
  const kept = Array.from({ length: 24 * 16 }, () => Buffer.alloc(MIB / 16));
  return kept.length > 0 ? held() : 0;
}

it.each([
  ['objects', manyObjects, 100, 10],
  ['buffers', manyBuffers, 16, 2],
])(
  'an idle process returns the memory of many %s to the system, a busy one does not',
  async (_, largeWork, least, looks) => {
    let release: MemoryRelease;
    let most: number;
    collections = 0;
    // On a loaded machine V8's own work can make the second count as busy, or release the memory before it is over.
    do {
      release = new MemoryRelease();
      most = largeWork();
      release.look();
      await setTimeout(100);
      for (let look = 0; look < looks; look++) {
        expect(collections).toBe(0);
        await setTimeout(1_000);
        release.look();
        await setTimeout(100);
      }
    } while (collections === 0);
    expect(most - held()).toBeGreaterThan(least * MIB);
    expect(collections).toBe(1);

    // The memory has not grown since.
    release.look();
    await setTimeout(100);
    expect(collections).toBe(1);
  },
);

it('an idle process returns once what its start has left', async () => {
  const release = new MemoryRelease();
  collections = 0;
  for (let look = 0; look < 20; look++) {
    // A moment of the test between two looks is not 5% of the time.
    await setTimeout(200);
    release.look();
  }
  await setTimeout(100);
  expect(collections).toBe(1);
});
