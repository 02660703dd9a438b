import { describe, expect, it } from '@jest/globals';
import { FreshCache } from './fresh-cache.js';

interface Row {
  readonly version: number;
}

/** A table, a clock and a cache over both; `reads` holds the keys of each read. */
function world() {
  const table = new Map<string, Row>();
  const reads: string[][] = [];
  const state = { now: 0, gate: Promise.resolve(), fail: false };
  const cache = new FreshCache<Row>(
    async (keys) => {
      reads.push([...keys]);
      const found = new Map(
        keys.flatMap((key) => (table.has(key) ? [[key, table.get(key)!]] : [])),
      );
      await state.gate;
      if (state.fail) throw new Error('no database');
      return found;
    },
    () => state.now,
  );
  return { table, reads, state, cache };
}

/** Lets what runs in the background end. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('FreshCache', () => {
  it('a fresh value is served after one read', async () => {
    const { table, reads, cache } = world();
    table.set('a', { version: 1 });
    for (let n = 0; n < 100; n++) expect(await cache.get('a')).toEqual({ version: 1 });
    expect(reads).toEqual([['a']]);
  });

  it('concurrent callers share one read', async () => {
    const { table, reads, cache } = world();
    for (const key of ['a', 'b', 'c']) table.set(key, { version: 1 });
    await Promise.all(['a', 'b', 'a', 'c', 'b', 'a'].map((key) => cache.get(key)));
    expect(reads).toEqual([['a', 'b', 'c']]);
  });

  it('no value is served a second after its read began', async () => {
    const { table, state, cache } = world();
    let open = (): void => undefined;
    state.gate = new Promise((resolve) => (open = resolve));
    table.set('a', { version: 1 });
    const first = cache.get('a');
    await settle();
    table.set('a', { version: 2 });
    state.now = 999;
    open();
    await first;
    expect((await cache.get('a'))?.version).toBe(1);
    state.now = 1_000;
    expect((await cache.get('a'))?.version).toBe(2);
  });

  it('missing values are not cached', async () => {
    const { table, reads, cache } = world();
    expect(await cache.get('none')).toBeUndefined();
    table.set('none', { version: 1 });
    expect(await cache.get('none')).toEqual({ version: 1 });
    expect(reads).toEqual([['none'], ['none']]);
  });

  it('a value that is gone is dropped', async () => {
    const { table, state, cache } = world();
    table.set('a', { version: 1 });
    await cache.get('a');
    table.delete('a');
    state.now = 1_000;
    expect(await cache.get('a')).toBeUndefined();
  });

  it('clear() also drops reads in progress', async () => {
    const { table, reads, state, cache } = world();
    let open = (): void => undefined;
    state.gate = new Promise((resolve) => (open = resolve));
    table.set('a', { version: 1 });
    const asked = cache.get('a');
    await settle();
    cache.clear();
    table.set('a', { version: 2 });
    open();
    await asked;
    expect((await cache.get('a'))?.version).toBe(2);
    expect(reads).toEqual([['a'], ['a']]);
  });

  it('a failed read fails its callers and the next call retries', async () => {
    const { table, state, cache } = world();
    table.set('a', { version: 1 });
    state.fail = true;
    await expect(cache.get('a')).rejects.toThrow('no database');
    state.fail = false;
    expect(await cache.get('a')).toEqual({ version: 1 });
  });

  it('the cache is bounded and drops the value that was read first', async () => {
    const { table, reads, cache } = world();
    const keys = Array.from({ length: 10_001 }, (_, n) => String(n));
    for (const key of keys) table.set(key, { version: 1 });
    await Promise.all(keys.map((key) => cache.get(key)));
    reads.length = 0;
    for (const key of ['1', '10000', '0']) await cache.get(key);
    expect(reads).toEqual([['0']]);
  });

  it('a read has at most 500 keys', async () => {
    const { reads, cache } = world();
    await Promise.all(Array.from({ length: 501 }, (_, n) => cache.get(String(n))));
    expect(reads.map(({ length }) => length)).toEqual([500, 1]);
  });
});
