import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../config/environment.js';
import { PendingSends } from './pending-sends.js';

describe('PendingSends', () => {
  it('refuses what is past the bound, and takes more once something ended', async () => {
    const pending = new PendingSends(readEnvironment({ MAX_PENDING_SENDS: '2' }));
    const ends: (() => void)[] = [];
    const work = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
    const held = [pending.hold(1, work), pending.hold(1, work)];
    await expect(pending.hold(1, work)).rejects.toMatchObject({
      code: 'unavailable',
      headers: { 'retry-after': '1' },
    });
    ends[0]?.();
    await held[0];
    held.push(pending.hold(1, work));
    for (const end of ends) end();
    await Promise.all(held);
  });

  it('takes one of any size where nothing waits, and frees its place when it fails', async () => {
    const pending = new PendingSends(readEnvironment({ MAX_PENDING_SENDS: '1' }));
    const failing = pending.hold(100_000, () => Promise.reject(new Error('x')));
    await expect(pending.hold(1, () => Promise.resolve())).rejects.toMatchObject({ status: 503 });
    await expect(failing).rejects.toThrow('x');
    await expect(pending.hold(1, () => Promise.resolve(7))).resolves.toBe(7);
  });
});
