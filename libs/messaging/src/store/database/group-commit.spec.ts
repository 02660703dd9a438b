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

it('concurrent items share a flush in order with separate answers', async () => {
  const { group, groups } = store();
  expect(await Promise.all(upTo(50).map((n) => group.add(n)))).toEqual(upTo(50).map((n) => n * 10));
  expect(groups).toEqual([upTo(50)]);
});

it('an item resolves after its own flush', async () => {
  const { group, stored } = store();
  await Promise.all(
    upTo(300).map(async (n) => {
      await group.add(n);
      expect(stored).toContain(n);
    }),
  );
  expect(stored).toEqual(upTo(300));
});

it('bad items of a group fail alone', async () => {
  const { group, stored } = store((n) => n % 17 === 3);
  const results = await Promise.allSettled(upTo(60).map((n) => group.add(n)));
  for (const [n, { status }] of results.entries())
    expect([n, status]).toEqual([n, n % 17 === 3 ? 'rejected' : 'fulfilled']);
  expect(stored).toEqual(upTo(60).filter((n) => n % 17 !== 3));
});

it('an unavailable database fails the whole group at once', async () => {
  const { group, groups, goAway } = store();
  goAway();
  const results = await Promise.allSettled(upTo(60).map((n) => group.add(n)));
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(groups).toEqual([upTo(60)]);
  await group.idle();
});

const PATIENT = { items: 5, milliseconds: 60_000, silence: 60_000 };

function gathering(gather: typeof PATIENT, expecting: () => boolean) {
  const groups: number[][] = [];
  const group = new GroupCommit<number, void>(
    async (take) => {
      groups.push([...take()]);
      return take().map(() => undefined);
    },
    { maxItems: 100, isItemError: () => true, gather: { ...gather, expecting } },
  );
  return { group, groups };
}

it('a group waits for expected items up to its size', async () => {
  const { group, groups } = gathering(PATIENT, () => true);
  const stored: Promise<void>[] = [];
  for (const n of upTo(5)) {
    stored.push(group.add(n));
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(stored);
  expect(groups).toEqual([upTo(5)]);
});

it('a group without expected items is flushed at once', async () => {
  let underWay = 3;
  const { group, groups } = gathering(PATIENT, () => underWay > 0);
  const stored = [group.add(1)];
  await new Promise((resolve) => setImmediate(resolve));
  stored.push(group.add(2));
  underWay = 0;
  await Promise.all(stored);
  expect(groups).toEqual([[1, 2]]);
});

it.each([{ milliseconds: 5 }, { silence: 5 }])(
  'a group does not wait for items that never come: %o',
  async (limit) => {
    const { group, groups } = gathering({ ...PATIENT, ...limit }, () => true);
    await group.add(1);
    expect(groups).toEqual([[1]]);
  },
);
