import { beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { WalSync } from './wal-sync.js';

let syncs: { resolve: () => void; reject: (error: Error) => void }[];
let closed: number;
let wal: WalSync;
const told: string[] = [];
const tell = (name: string) => wal.done().then(() => told.push(name));
const turn = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  syncs = [];
  closed = 0;
  told.splice(0);
  wal = new WalSync({
    sync: () => new Promise<void>((resolve, reject) => syncs.push({ resolve, reject })),
    close: async () => void closed++,
  });
});

it('commits during a sync share the next one', async () => {
  void tell('first');
  await turn();
  void tell('second');
  void tell('third');
  await turn();
  expect(syncs).toHaveLength(1);
  syncs[0]?.resolve();
  await turn();
  expect(told).toEqual(['first']);
  expect(syncs).toHaveLength(2);
  syncs[1]?.resolve();
  await turn();
  expect(told).toEqual(['first', 'second', 'third']);
  expect(syncs).toHaveLength(2);
});

it('after a failed sync every sync fails and one error is logged', async () => {
  const fatal = jest.spyOn(Logger.prototype, 'fatal').mockImplementation(() => undefined);
  const first = wal.done();
  await turn();
  const second = wal.done();
  syncs[0]?.reject(new Error('EIO'));
  await expect(first).rejects.toThrow('EIO');
  await expect(second).rejects.toThrow('EIO');
  await expect(wal.done()).rejects.toThrow('EIO');
  expect(syncs).toHaveLength(1);
  expect(fatal).toHaveBeenCalledTimes(1);
  await wal.close();
  expect(closed).toBe(1);
  fatal.mockRestore();
});

it('the log file is closed after the running sync', async () => {
  void tell('first');
  await turn();
  const closing = wal.close();
  await turn();
  expect(closed).toBe(0);
  syncs[0]?.resolve();
  await closing;
  expect(closed).toBe(1);
});
