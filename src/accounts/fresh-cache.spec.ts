import { describe, expect, it } from '@jest/globals';
import { FreshCache } from './fresh-cache.js';

interface Row {
  readonly good: boolean;
  readonly version: number;
}

/** A table, a clock and a cache over both; `reads` holds the keys of each read. */
function world(max?: number) {
  const table = new Map<string, Row>();
  const reads: string[][] = [];
  const state = { now: 0, gate: Promise.resolve(), fail: false };
  const cache = new FreshCache<Row>({
    load: async (keys) => {
      reads.push([...keys]);
      const found = new Map(
        keys.flatMap((key) => (table.has(key) ? [[key, table.get(key)!]] : [])),
      );
      await state.gate;
      if (state.fail) throw new Error('no database');
      return found;
    },
    keep: ({ good }) => good,
    now: () => state.now,
    max,
  });
  return { table, reads, state, cache };
}

/** Lets what runs in the background end. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('FreshCache', () => {
  it('a fresh value is served synchronously after one read', async () => {
    const { table, reads, cache } = world();
    table.set('a', { good: true, version: 1 });
    expect(cache.peek('a')).toBeUndefined();
    expect(await cache.get('a')).toEqual({ good: true, version: 1 });
    for (let n = 0; n < 100; n++) expect(cache.peek('a')?.version).toBe(1);
    expect(reads).toEqual([['a']]);
  });

  it('concurrent callers share one read', async () => {
    const { table, reads, cache } = world();
    for (const key of ['a', 'b', 'c']) table.set(key, { good: true, version: 1 });
    await Promise.all(['a', 'b', 'a', 'c', 'b', 'a'].map((key) => cache.get(key)));
    expect(reads).toEqual([['a', 'b', 'c']]);
  });

  it('an ageing value is refreshed in the background', async () => {
    const { table, state, cache } = world();
    table.set('a', { good: true, version: 1 });
    await cache.get('a');
    table.set('a', { good: true, version: 2 });
    state.now = 399;
    expect(cache.peek('a')?.version).toBe(1);
    await settle();
    expect(cache.peek('a')?.version).toBe(1);
    state.now = 400;
    expect(cache.peek('a')?.version).toBe(1);
    await settle();
    expect(cache.peek('a')?.version).toBe(2);
  });

  it('no value is served a second after its read began', async () => {
    const { table, state, cache } = world();
    let open = (): void => undefined;
    state.gate = new Promise((resolve) => (open = resolve));
    table.set('a', { good: true, version: 1 });
    const first = cache.get('a');
    await settle();
    state.now = 900;
    open();
    await first;
    expect(cache.peek('a')?.version).toBe(1);
    state.now = 1_000;
    expect(cache.peek('a')).toBeUndefined();
  });

  it('missing and invalid values are not cached', async () => {
    const { table, reads, cache } = world();
    table.set('bad', { good: false, version: 1 });
    for (const key of ['none', 'bad']) {
      await cache.get(key);
      expect(cache.peek(key)).toBeUndefined();
    }
    table.set('none', { good: true, version: 1 });
    expect(await cache.get('none')).toEqual({ good: true, version: 1 });
    expect(reads).toEqual([['none'], ['bad'], ['none']]);
  });

  it('a refresh drops an invalid value', async () => {
    const { table, state, cache } = world();
    table.set('a', { good: true, version: 1 });
    await cache.get('a');
    table.set('a', { good: false, version: 2 });
    state.now = 500;
    cache.peek('a');
    await settle();
    expect(cache.peek('a')).toBeUndefined();
  });

  it('clear() also drops reads in progress', async () => {
    const { table, state, cache } = world();
    let open = (): void => undefined;
    state.gate = new Promise((resolve) => (open = resolve));
    table.set('a', { good: true, version: 1 });
    const asked = cache.get('a');
    await settle();
    cache.clear();
    open();
    await asked;
    expect(cache.peek('a')).toBeUndefined();
  });

  it('a failed read fails its callers and the next call retries', async () => {
    const { table, state, cache } = world();
    table.set('a', { good: true, version: 1 });
    state.fail = true;
    await expect(cache.get('a')).rejects.toThrow('no database');
    state.fail = false;
    expect(await cache.get('a')).toEqual({ good: true, version: 1 });
  });

  it('the cache is bounded and drops the least recently used', async () => {
    const { table, cache } = world(2);
    for (const key of ['a', 'b', 'c']) {
      table.set(key, { good: true, version: 1 });
      await cache.get(key);
    }
    expect(['a', 'b', 'c'].map((key) => cache.peek(key)?.version)).toEqual([undefined, 1, 1]);
  });
});
