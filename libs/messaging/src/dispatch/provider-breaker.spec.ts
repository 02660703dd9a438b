import { describe, expect, it } from '@jest/globals';
import type { ProviderPause } from '../store/verbs/provider-pauses.js';
import { ProviderBreaker } from './provider-breaker.js';

/** A breaker on a clock of the test, and the rows that it shares. */
function breaker(claims = true) {
  const clock = { at: 0, monotonic: () => clock.at };
  const paused: ProviderPause[] = [];
  const ended: string[] = [];
  const pauses = {
    pause: async (pause: ProviderPause) => void paused.push(pause),
    claim: async () => claims,
    end: async (provider: string) => void ended.push(provider),
  };
  return { clock, paused, ended, breaker: new ProviderBreaker('a', clock, 1_000, pauses) };
}

describe('ProviderBreaker', () => {
  it('a breaker lets every lane start while the provider accepts', () => {
    const { breaker: one } = breaker();
    one.started('x');
    expect([one.pausedFor('x'), one.pausedFor('y'), one.isOpen]).toEqual([0, 0, false]);
  });

  it('a breaker pauses all lanes, lets one lane probe, and resumes all lanes once the probe is accepted', () => {
    const { breaker: one, clock, paused } = breaker();
    one.open(50, undefined, 'throttled: slower');
    expect([one.pausedFor('x'), one.pausedFor('y')]).toEqual([50, 50]);
    clock.at = 50;
    expect([one.pausedFor('x'), one.pausedFor('y')]).toEqual([0, 0]);
    one.started('x');
    expect(one.isProbedBy('x')).toBe(true);
    expect(one.pausedFor('x')).toBe(0);
    expect(one.pausedFor('y')).toBeGreaterThan(0);
    one.passed();
    expect([one.pausedFor('y'), one.isOpen]).toEqual([0, false]);
    // Other processes are not told of so short a pause.
    expect(paused).toEqual([]);
  });

  it('a breaker gives the next probe to another lane where one has no answer', () => {
    const { breaker: one, clock } = breaker();
    one.open(50, undefined, 'throttled: slower');
    clock.at = 50;
    one.started('x');
    clock.at += one.pausedFor('y');
    expect(one.pausedFor('y')).toBe(0);
  });

  it('a breaker counts requests that fail together once, and pauses longer after each failed probe', () => {
    const { breaker: one, clock, paused } = breaker();
    for (let n = 0; n < 10; n++) one.open(800, undefined, 'unreachable: refused');
    expect(one.pausedFor('x')).toBe(800);
    for (let trip = 2; trip < 12; trip++) {
      clock.at += one.pausedFor('x') + 1;
      one.open(800, undefined, 'unreachable: refused');
      expect(one.pausedFor('x')).toBeLessThan(30_001);
    }
    expect(paused.at(-1)?.trips).toBe(11);
    expect(paused.at(-1)?.pausedFor).toBeGreaterThan(3_000);
  });

  it('a breaker stores a long pause for other processes, claims its probe, and deletes the row afterwards', async () => {
    const { breaker: one, clock, paused, ended } = breaker();
    one.open(500, 60_000, 'unauthorized: check the token');
    expect(paused).toEqual([
      { provider: 'a', pausedFor: 60_000, reason: 'unauthorized: check the token', trips: 1 },
    ]);
    clock.at = 60_000;
    expect(one.pausedFor('x')).toBeGreaterThan(0);
    await new Promise(setImmediate);
    expect(one.pausedFor('x')).toBe(0);
    one.started('x');
    one.passed();
    expect([ended, one.isOpen]).toEqual([['a'], false]);
  });

  it('a breaker starts no request while another process probes', async () => {
    const { breaker: one, clock } = breaker(false);
    one.read({ provider: 'a', pausedFor: 5_000, reason: 'unauthorized: x', trips: 3 });
    expect(one.pausedFor('x')).toBe(5_000);
    clock.at = 5_000;
    for (let n = 0; n < 3; n++) {
      expect(one.pausedFor('x')).toBeGreaterThan(0);
      await new Promise(setImmediate);
    }
    one.read(undefined);
    expect([one.pausedFor('x'), one.isOpen]).toEqual([0, false]);
  });

  it('a breaker keeps the result of its probe where a read is older', () => {
    const { breaker: one } = breaker();
    one.open(500, 60_000, 'unauthorized: x');
    one.read(undefined);
    expect(one.isOpen).toBe(true);
  });

  it('a request that started before the pause does not end it', () => {
    const { breaker: one } = breaker();
    one.open(50, undefined, 'throttled: slower');
    one.passed();
    expect(one.isOpen).toBe(true);
  });
});
