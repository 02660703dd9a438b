import { expect, it } from '@jest/globals';
import { GroupCommit } from './group-commit.js';

class Bad extends Error {}

/** A store that takes a group at a time and refuses one that holds `bad`. */
function store(bad: (item: number) => boolean = () => false) {
  const groups: number[][] = [];
  const stored: number[] = [];
  let away = false;
  const group = new GroupCommit<number, number>(
    async (take) => {
      await new Promise((resolve) => setImmediate(resolve));
      const items = [...take()];
      groups.push(items);
      if (away) throw new Error('away');
      if (items.some(bad)) throw new Bad(String(items));
      stored.push(...items);
      return items.map((item) => item * 10);
    },
    { maxItems: 100, isItemError: (error) => error instanceof Bad },
  );
  const goAway = () => {
    away = true;
  };
  return { group, groups, stored, goAway };
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

it('what comes together is stored together, in order, and each gets its own answer', async () => {
  const { group, groups } = store();
  expect(await Promise.all(upTo(50).map((n) => group.add(n)))).toEqual(upTo(50).map((n) => n * 10));
  expect(groups).toEqual([upTo(50)]);
});

it('nobody resolves before what is theirs is stored', async () => {
  const { group, stored } = store();
  await Promise.all(
    upTo(300).map(async (n) => {
      await group.add(n);
      expect(stored).toContain(n);
    }),
  );
  expect(stored).toEqual(upTo(300));
});

it('the bad ones fail alone, however many there are', async () => {
  const { group, stored } = store((n) => n % 17 === 3);
  const results = await Promise.allSettled(upTo(60).map((n) => group.add(n)));
  for (const [n, { status }] of results.entries())
    expect([n, status]).toEqual([n, n % 17 === 3 ? 'rejected' : 'fulfilled']);
  expect(stored).toEqual(upTo(60).filter((n) => n % 17 !== 3));
});

it('a database that is away fails the group at once: it is nobody’s fault', async () => {
  const { group, groups, goAway } = store();
  goAway();
  const results = await Promise.allSettled(upTo(60).map((n) => group.add(n)));
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(groups).toEqual([upTo(60)]);
  await group.idle();
});
