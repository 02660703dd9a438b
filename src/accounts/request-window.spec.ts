import { describe, expect, it } from '@jest/globals';
import { RequestWindow } from './request-window.js';

describe('RequestWindow', () => {
  it('counts each key for itself and begins again when its window ends', () => {
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

  it('says in whole seconds when it ends, never zero', () => {
    let now = 0;
    const window = new RequestWindow({ max: 1, per: 60_000 }, () => now);
    expect(window.take('a').reset).toBe(60);
    now = 59_999;
    expect(window.take('a').reset).toBe(1);
  });

  it('remembers only so many keys', () => {
    const window = new RequestWindow({ max: 1, per: 1_000 }, () => 0);
    for (let key = 0; key < 20_001; key++) window.take(String(key));
    expect(window.take('20000').remaining).toBe(-1);
    expect(window.take('0').remaining).toBe(0);
  });
});
