import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FairQueue } from './fair-queue.js';

const takeAll = (queue: FairQueue<string>): string[] => {
  const taken: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) taken.push(item);
  return taken;
};

describe('FairQueue', () => {
  it('takes turns between classes, and between the shares of a class', () => {
    const queue = new FairQueue<string>(10);
    for (const item of ['a1', 'a2', 'a3']) queue.push(['portal', 'a'], item);
    queue.push(['portal', 'b'], 'b1');
    queue.push(['smpp', 'c'], 'c1');
    expect(takeAll(queue)).toEqual(['a1', 'c1', 'b1', 'a2', 'a3']);
  });

  it('a full class drops the newest item of its largest share, and no item of another class', () => {
    const queue = new FairQueue<string>(3);
    queue.push(['smpp', 'x'], 'x1');
    for (const item of ['a1', 'a2', 'a3'])
      expect(queue.push(['portal', 'a'], item)).toBeUndefined();
    expect(queue.push(['portal', 'b'], 'b1')).toBe('a3');
    expect(queue.push(['portal', 'a'], 'a4')).toBe('a4');
    expect(takeAll(queue)).toEqual(['x1', 'a1', 'b1', 'a2']);
  });

  it('gives back each item once, in the order of its share', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('p', 's'), fc.constantFrom('1', '2', '3')), {
          maxLength: 60,
        }),
        (paths) => {
          const queue = new FairQueue<string>(20);
          const dropped = new Set<string>();
          paths.forEach((path, n) => {
            const lost = queue.push(path, `${path.join()} ${n}`);
            if (lost !== undefined) dropped.add(lost);
          });
          const taken = takeAll(queue);
          expect(new Set([...taken, ...dropped]).size).toBe(paths.length);
          expect(taken.length + dropped.size).toBe(paths.length);
          for (const share of new Set(paths.map((path) => path.join()))) {
            const numbers = taken
              .filter((item) => item.startsWith(share))
              .map((item) => Number(item.split(' ')[1]));
            expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
          }
          expect(queue.shift()).toBeUndefined();
        },
      ),
    );
  });
});
