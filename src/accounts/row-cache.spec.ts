import { describe, expect, it } from '@jest/globals';
import type { DataSource, FindManyOptions } from 'typeorm';
import { RowCache } from './row-cache.js';

class Row {
  readonly id!: string;
  readonly version!: number;
}

/** A table, a clock and a cache over both; `reads` holds the keys of each read. */
function world() {
  const table = new Map<string, Omit<Row, 'id'>>();
  const reads: string[][] = [];
  const state = { now: 0, gate: Promise.resolve(), fail: false };
  const find = async (_entity: unknown, { where }: FindManyOptions<Row>) => {
    const keys = (where as Row[]).map(({ id }) => id);
    reads.push(keys);
    const found = keys.flatMap((id) => (table.has(id) ? [{ id, ...table.get(id) }] : []));
    await state.gate;
    if (state.fail) throw new Error('no database');
    return found;
  };
  const source = { manager: { find } } as unknown as DataSource;
  const rows = new RowCache(source, Row, ['id'], {}, () => state.now);
  const cache = {
    find: (id: string) => rows.find({ id }),
    get: async (id: string) => rows.find({ id }),
    clear: () => rows.clear(),
  };
  return { table, reads, state, cache };
}

/** Lets background reads end. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('RowCache', () => {
  it('a fresh value is served after one read, without a promise', async () => {
    const { table, reads, cache } = world();
    table.set('a', { version: 1 });
    await cache.get('a');
    for (let n = 0; n < 100; n++) expect(cache.find('a')).toEqual({ id: 'a', version: 1 });
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
    expect(await cache.get('none')).toEqual({ id: 'none', version: 1 });
    expect(reads).toEqual([['none'], ['none']]);
  });

  it('a deleted value is dropped from the cache', async () => {
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
    expect(await cache.get('a')).toEqual({ id: 'a', version: 1 });
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
