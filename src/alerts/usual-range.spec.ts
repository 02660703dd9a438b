import { describe, expect, it } from '@jest/globals';
import { usualRange } from './usual-range.js';

const ROOM = { minimum: 50, drop: 0.1 };

const daysOf = (...delivered: number[]) =>
  delivered.map((count) => ({ messages: 100, delivered: count }));

describe('the usual range of a delivered share', () => {
  it('is the middle of the days less the drop', () => {
    expect(usualRange(daysOf(95, 94, 96, 95, 95), ROOM)).toEqual({
      usual: 0.95,
      lowest: expect.closeTo(0.85),
    });
  });

  it('one bad day among the days before changes nothing', () => {
    expect(usualRange(daysOf(95, 94, 20, 95, 96, 95, 94), ROOM)?.lowest).toBeCloseTo(0.85);
  });

  it('is wider where the days differ', () => {
    const range = usualRange(daysOf(60, 90, 70, 80, 50), ROOM);
    expect(range?.usual).toBeCloseTo(0.7);
    expect(range?.lowest).toBeCloseTo(0.4);
  });

  it('is not known from fewer than three days with enough messages', () => {
    const few = [{ messages: 49, delivered: 49 }];
    expect(usualRange([...daysOf(95, 95), ...few, ...few], ROOM)).toBeUndefined();
    expect(usualRange([...daysOf(95, 95, 95), ...few], ROOM)).toBeDefined();
  });
});
