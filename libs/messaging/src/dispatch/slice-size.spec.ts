import { describe, expect, it } from '@jest/globals';
import type { LaneRun } from './lane-run.js';
import { SliceSize } from './slice-size.js';

function unlimited(concurrency: number): SliceSize {
  return new SliceSize({ context: { concurrency }, memory: {} } as unknown as LaneRun);
}

/** A lane that keeps a slice ahead, and from which so many messages leave a second. */
function after(seconds: number, perSecond: number, size: SliceSize): number {
  let ready = 0;
  for (let ms = 1; ms <= seconds * 1_000; ms++) {
    for (; ready <= size.messages; ready += size.messages) size.adapt(ms);
    const leaving = Math.min(ready, perSecond / 1_000);
    ready -= leaving;
    size.left(leaving);
  }
  return size.messages;
}

describe('SliceSize', () => {
  it('is some quarter second of what leaves', () => {
    for (const perSecond of [1_000, 4_000, 10_000]) {
      const size = after(5, perSecond, unlimited(10));
      expect(size).toBeGreaterThanOrEqual(perSecond / 8);
      expect(size).toBeLessThanOrEqual(perSecond / 2);
    }
  });

  it('grows where all that is planned leaves at once, also where two are planned before that', () => {
    const size = unlimited(10);
    for (let now = 10; now <= 200; now += 10) {
      const first = size.messages;
      size.adapt(now);
      size.left(first + size.messages);
      size.adapt(now);
    }
    expect(size.messages).toBe(4_000);
  });

  it('follows a provider that slows down', () => {
    const size = unlimited(10);
    expect(after(5, 10_000, size)).toBeGreaterThan(1_000);
    expect(after(60, 200, size)).toBeLessThanOrEqual(100);
  });

  it('stays small where nothing leaves, however often another is asked for', () => {
    const size = unlimited(32);
    for (let n = 1; n <= 100; n++) {
      size.adapt(n * 2);
      expect(size.messages).toBeLessThanOrEqual(64);
    }
  });

  it('is no less than may be in flight, and no more than one statement bears', () => {
    expect(after(5, 10, unlimited(100))).toBe(100);
    expect(after(5, 1_000_000, unlimited(100))).toBe(4_000);
  });
});
