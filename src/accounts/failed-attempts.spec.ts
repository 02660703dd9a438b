import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../config/environment.js';
import { FailedAttempts } from './failed-attempts.js';

describe('FailedAttempts', () => {
  it('counts an IPv6 network as one address, an IPv4 address as itself', () => {
    const failures = new FailedAttempts(readEnvironment({ AUTH_FAILURE_LIMIT: '10/h' }));
    const left = (ip: string): number | undefined => failures.count(ip)?.remaining;
    expect([left('2001:db8::1'), left('2001:db8:0:0:ffff::2'), left('2001:db8:0:1::1')]).toEqual([
      9, 8, 9,
    ]);
    expect([left('192.0.2.1'), left('192.0.2.1'), left('192.0.2.2')]).toEqual([9, 8, 9]);
    expect([left('::ffff:192.0.2.9'), left('::ffff:192.0.2.8'), left('::1')]).toEqual([9, 9, 9]);
  });

  it('can be off', () => {
    const failures = new FailedAttempts(readEnvironment({ AUTH_FAILURE_LIMIT: 'off' }));
    expect(failures.count('192.0.2.1')).toBeUndefined();
  });
});
