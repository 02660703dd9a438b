import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../config/environment.js';
import { FailedAttempts, PendingSends, RequestWindow } from './limits.js';

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

  it('the number of counted keys is bounded', () => {
    const window = new RequestWindow({ max: 1, per: 1_000 }, () => 0);
    for (let key = 0; key < 20_001; key++) window.take(String(key));
    expect(window.take('20000').remaining).toBe(-1);
    expect(window.take('0').remaining).toBe(0);
  });
});

describe('FailedAttempts', () => {
  it('failed attempts count per IPv4 address and IPv6 network', () => {
    const failures = new FailedAttempts(readEnvironment({ AUTH_FAILURE_LIMIT: '10/h' }));
    const left = (ip: string): number | undefined => failures.count(ip)?.remaining;
    expect([left('2001:db8::1'), left('2001:db8:0:0:ffff::2'), left('2001:db8:0:1::1')]).toEqual([
      9, 8, 9,
    ]);
    expect([left('192.0.2.1'), left('192.0.2.1'), left('192.0.2.2')]).toEqual([9, 8, 9]);
    expect([left('::ffff:192.0.2.9'), left('::ffff:192.0.2.8'), left('::1')]).toEqual([9, 9, 9]);
  });

  it('the limit of failed attempts can be off', () => {
    const failures = new FailedAttempts(readEnvironment({ AUTH_FAILURE_LIMIT: 'off' }));
    expect(failures.count('192.0.2.1')).toBeUndefined();
  });
});

describe('PendingSends', () => {
  it('sends above the bound are refused until one ends', () => {
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

  it('one send of any size is accepted when none is pending', () => {
    const pending = new PendingSends(readEnvironment({ MAX_PENDING_SENDS: '1' }));
    const place = pending.take(100_000);
    expect(() => pending.take(1)).toThrow(expect.objectContaining({ status: 503 }));
    pending.leave(place);
    expect(pending.take(1)).toBe(1);
  });
});
