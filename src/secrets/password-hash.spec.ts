import { expect, it } from '@jest/globals';
import { createHook } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { hashPassword } from './password-hash.js';

it('at most two passwords are hashed at once, and the event loop keeps a core', async () => {
  const running = new Set<number>();
  let [most, all] = [0, 0];
  const hook = createHook({
    init(id, type) {
      if (type !== 'SCRYPTREQUEST') return;
      all++;
      most = Math.max(most, running.add(id).size);
    },
    before: (id) => void running.delete(id),
  }).enable();
  await Promise.all(Array.from({ length: 6 }, () => hashPassword('a long and quiet river')));
  hook.disable();
  expect([all, most]).toEqual([6, Math.max(1, Math.min(2, availableParallelism() - 1))]);
});
