import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../config/environment.js';
import { PendingSends } from './pending-sends.js';

describe('PendingSends', () => {
  it('refuses what is past the bound, and takes more once something ended', () => {
    const pending = new PendingSends(readEnvironment({ MAX_PENDING_SENDS: '2' }));
    const place = pending.take(1);
    pending.take(1);
    expect(() => pending.take(1)).toThrow(
      expect.objectContaining({ code: 'unavailable', headers: { 'retry-after': '1' } }),
    );
    pending.leave(place);
    expect(pending.take(1)).toBe(1);
    expect(() => pending.take(1)).toThrow('try again');
  });

  it('takes one of any size where nothing waits, and all of its place is free after it', () => {
    const pending = new PendingSends(readEnvironment({ MAX_PENDING_SENDS: '1' }));
    const place = pending.take(100_000);
    expect(() => pending.take(1)).toThrow(expect.objectContaining({ status: 503 }));
    pending.leave(place);
    expect(pending.take(1)).toBe(1);
  });
});
