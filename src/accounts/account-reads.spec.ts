import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { DataSourceOptions } from 'typeorm';
import type { HttpReply, HttpRequest } from '../http/http-message.js';
import { AccountReads, type ReadKind } from './account-reads.js';

const POOL_OF_TEN = { type: 'postgres' } as const;
const GET = { method: 'GET' } as HttpRequest;

/** The response of a client, which is gone after `leave()`. */
class Client extends EventEmitter {
  closed = false;

  leave(): void {
    this.closed = true;
    this.emit('close');
  }
}

function world(options: DataSourceOptions = POOL_OF_TEN) {
  const reads = new AccountReads({ options });
  const started: string[] = [];
  const ask = (name: string, account = 'a', kind: ReadKind = 'read') => {
    const client = new Client();
    const reply = { raw: client } as unknown as HttpReply;
    const admitted = reads.admit(account, GET, reply, kind);
    admitted.then(
      () => started.push(name),
      () => undefined,
    );
    return { client, admitted, answer: () => reads.answered(reply) };
  };
  return { reads, started, ask };
}

/** Until promises that are settled have been told, and a rest between two reads is over. */
const settled = () => jest.advanceTimersByTimeAsync(60);

const REFUSED = expect.objectContaining({ status: 429, code: 'rate_limited' });

describe('AccountReads', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it.each([
    ['three reads and two exports of ten connections', POOL_OF_TEN, 3, 2],
    ['five reads and five exports of twenty', { ...POOL_OF_TEN, poolSize: 20 }, 5, 5],
    ['one each on SQLite', { type: 'better-sqlite3', database: ':memory:' }, 1, 1],
  ] as const)('%s run at once', async (_name, options, most, exports) => {
    const { started, ask } = world(options);
    for (let n = 0; n < 20; n++) ask('read');
    for (let n = 0; n < 20; n++) ask('export', 'a', 'export');
    ask('other', 'b');
    await settled();
    const count = (name: string) => started.filter((one) => one === name).length;
    expect([count('read'), count('export'), count('other')]).toEqual([most, exports, 1]);
  });

  it('the others start in their order, one for each answer', async () => {
    const { started, ask } = world();
    const all = ['1', '2', '3', '4', '5'].map((name) => ask(name));
    await settled();
    expect(started).toEqual(['1', '2', '3']);
    all[1]?.answer();
    await settled();
    expect(started).toEqual(['1', '2', '3', '4']);
    for (const n of [0, 2, 3, 4]) all[n]?.answer();
    await settled();
    ask('6');
    await settled();
    expect(started).toEqual(['1', '2', '3', '4', '5', '6']);
  });

  it('a client that is gone leaves the queue, and its handler keeps its turn until it ends', async () => {
    const { started, ask } = world();
    const all = ['1', '2', '3', '4', '5'].map((name) => ask(name));
    all[3]?.client.leave();
    await expect(all[3]?.admitted).rejects.toThrow('The client disconnected');
    all[0]?.client.leave();
    await settled();
    expect(started).toEqual(['1', '2', '3']);
    all[0]?.answer();
    await settled();
    expect(started).toEqual(['1', '2', '3', '5']);
  });

  it('an export ends when its answer has been taken', async () => {
    const { started, ask } = world();
    const all = ['1', '2', '3'].map((name) => ask(name, 'a', 'export'));
    await settled();
    all[0]?.answer();
    await settled();
    expect(started).toEqual(['1', '2']);
    all[0]?.client.leave();
    await settled();
    expect(started).toEqual(['1', '2', '3']);
  });

  it('an account fetches four files at once, beside its reads', async () => {
    const { started, ask } = world();
    const files = ['1', '2', '3', '4', '5'].map((name) => ask(name, 'a', 'file'));
    ask('read');
    await settled();
    expect(started).toEqual(['1', '2', '3', '4', 'read']);
    files[0]?.answer();
    await settled();
    expect(started).toHaveLength(5);
    files[0]?.client.leave();
    await settled();
    expect(started).toEqual(['1', '2', '3', '4', 'read', '5']);
  });

  it('a read that waits beside a thousand others, or for ten seconds, is refused', async () => {
    jest.useFakeTimers();
    try {
      const { reads, ask } = world();
      const all = Array.from({ length: 1_004 }, (_, n) => ask(String(n)));
      await expect(all.at(-1)?.admitted).rejects.toEqual(REFUSED);
      const late = all[3]?.admitted.catch((error: unknown) => error);
      for (const { admitted } of all.slice(4)) admitted.catch(() => undefined);
      await expect(reads.during('b', async () => 'read')).resolves.toBe('read');
      await jest.advanceTimersByTimeAsync(10_000);
      expect(await late).toEqual(REFUSED);
    } finally {
      jest.useRealTimers();
    }
  });

  it('the next read of a full line waits as long as the one before it took', async () => {
    jest.useFakeTimers();
    try {
      const { started, ask } = world({ type: 'better-sqlite3', database: ':memory:' });
      const first = ask('1');
      ask('2');
      await jest.advanceTimersByTimeAsync(30);
      first.answer();
      await jest.advanceTimersByTimeAsync(29);
      expect(started).toEqual(['1']);
      await jest.advanceTimersByTimeAsync(1);
      expect(started).toEqual(['1', '2']);
    } finally {
      jest.useRealTimers();
    }
  });

  it('a change waits for no read', async () => {
    const { reads, ask } = world();
    for (let n = 0; n < 5; n++) ask('read');
    const post = { method: 'POST' } as HttpRequest;
    const reply = { raw: new Client() } as unknown as HttpReply;
    await expect(reads.admit('a', post, reply)).resolves.toBeUndefined();
  });

  it('a failed read ends its turn', async () => {
    const { reads } = world({ type: 'better-sqlite3', database: ':memory:' });
    const failed = reads.during('a', () => Promise.reject(new Error('away')));
    await expect(failed).rejects.toThrow('away');
    const next = reads.during('a', async () => 'read');
    await settled();
    await expect(next).resolves.toBe('read');
  });
});
