import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../config/environment.js';
import { networkOf, PendingSends, RequestWindow } from './limits.js';

describe('RequestWindow', () => {
  it('requests are counted per key and window', () => {
    let now = 5_000;
    const window = new RequestWindow({ max: 2, per: 1_000 }, () => now);
    expect(window.take('a')).toEqual({ remaining: 1, reset: 1 });
    now += 400;
    expect(window.take('a')).toEqual({ remaining: 0, reset: 1 });
    expect(window.take('a').remaining).toBe(-1);
    expect(window.take('b').remaining).toBe(1);
    now = 6_000;
    expect(window.take('a').remaining).toBe(1);
    expect(window.take('b').remaining).toBe(0);
  });

  it("the window's end is given in whole seconds", () => {
    let now = 0;
    const window = new RequestWindow({ max: 1, per: 60_000 }, () => now);
    expect(window.take('a').reset).toBe(60);
    now = 59_999;
    expect(window.take('a').reset).toBe(1);
  });

  it('a key is exhausted from its last request to the end of its window', () => {
    let now = 0;
    const window = new RequestWindow({ max: 2, per: 60_000 }, () => now);
    window.take('a');
    expect(window.exhaustedFor('a')).toBeUndefined();
    window.take('a');
    expect([window.exhaustedFor('a'), window.exhaustedFor('b')]).toEqual([60, undefined]);
    now = 59_999;
    expect(window.exhaustedFor('a')).toBe(1);
    now = 60_000;
    expect(window.exhaustedFor('a')).toBeUndefined();
  });

  it('the number of counted keys is bounded', () => {
    const window = new RequestWindow({ max: 1, per: 1_000 }, () => 0);
    for (let key = 0; key < 20_001; key++) window.take(String(key));
    expect(window.take('20000').remaining).toBe(-1);
    expect(window.take('0').remaining).toBe(0);
  });
});

describe('networkOf', () => {
  it.each([
    ['2001:db8::1', '2001:db8:0:0:ffff::2'],
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.9', '192.0.2.9'],
  ])('%s and %s are one network', (one, other) => {
    expect(networkOf(one)).toBe(networkOf(other));
  });

  it.each([
    ['2001:db8::1', '2001:db8:0:1::1'],
    ['192.0.2.1', '192.0.2.2'],
    ['::ffff:192.0.2.9', '::ffff:192.0.2.8'],
    ['::ffff:192.0.2.9', '::1'],
  ])('%s and %s are different networks', (one, other) => {
    expect(networkOf(one)).not.toBe(networkOf(other));
  });
});

describe('PendingSends', () => {
  const until = (): { ended: Promise<void>; end: () => void } => {
    let end = (): void => undefined;
    return { ended: new Promise((resolve) => (end = resolve)), end: () => end() };
  };

  it('sends above the bound are refused until one ends', async () => {
    const pending = new PendingSends(readEnvironment({ MAX_PENDING_SENDS: '2' }));
    const [first, second] = [until(), until()];
    const sends = [first, second].map(({ ended }) => pending.during(1, () => ended));
    await expect(pending.during(1, async () => 'sent')).rejects.toMatchObject({
      code: 'unavailable',
      headers: { 'retry-after': '1' },
    });
    first.end();
    await sends[0];
    expect(await pending.during(1, async () => 'sent')).toBe('sent');
    second.end();
    await sends[1];
  });

  it('a failed send no longer counts', async () => {
    const pending = new PendingSends(readEnvironment({ MAX_PENDING_SENDS: '1' }));
    const failure = new Error('failed');
    for (let n = 0; n < 3; n++)
      await expect(pending.during(1, () => Promise.reject(failure))).rejects.toBe(failure);
  });

  it('one send of any size is accepted when none is pending', async () => {
    const pending = new PendingSends(readEnvironment({ MAX_PENDING_SENDS: '1' }));
    const large = until();
    const send = pending.during(100_000, () => large.ended);
    await expect(pending.during(1, async () => 'sent')).rejects.toMatchObject({ status: 503 });
    large.end();
    await send;
    expect(await pending.during(1, async () => 'sent')).toBe('sent');
  });
});
