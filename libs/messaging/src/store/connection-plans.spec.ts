import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ConnectionPlans } from './connection-plans.js';

const LOST = Object.assign(new Error('gone'), { code: '26000' });
const TAKEN = Object.assign(new Error('taken'), { code: '42P05' });

describe("the plans of a connection's statements", () => {
  let plans: ConnectionPlans;

  beforeEach(() => {
    jest.useFakeTimers();
    plans = new ConnectionPlans();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** The runs, of so many, before which plans were made anew. */
  function renewals(runs: number, names = ['a']): number[] {
    const found: number[] = [];
    for (let run = 1; run <= runs; run++)
      for (const name of names) if (plans.outdated(name)) found.push(run);
    return found;
  }

  it('are made anew ever more seldom', () => {
    expect(renewals(2_000)).toEqual([24, 96, 384, 1_536]);
  });

  it('are made anew together', () => {
    expect(renewals(100, ['a', 'b', 'c'])).toEqual([24, 92]);
  });

  it('are made anew after a slow run, once a second', () => {
    plans.took(150);
    expect(renewals(10)).toEqual([]);
    jest.advanceTimersByTime(1_000);
    expect(renewals(10)).toEqual([1]);
    plans.took(99);
    jest.advanceTimersByTime(1_000);
    expect(renewals(1)).toEqual([]);
  });

  it('are made anew after ten minutes', () => {
    jest.advanceTimersByTime(600_000);
    expect(renewals(10)).toEqual([1]);
  });

  it('have other names where they were lost', () => {
    expect(plans.nameOf('a')).toBe('a');
    expect(plans.lost(LOST)).toBe(true);
    expect(plans.nameOf('a')).toBe('a_1');
  });

  it('are given up where they are lost again and again, or where somebody else has their names', () => {
    expect([plans.lost(LOST), plans.lost(LOST), plans.lost(LOST)]).toEqual([true, true, false]);
    expect(new ConnectionPlans().lost(TAKEN)).toBe(false);
  });

  it('are not given up where they are lost now and then', () => {
    for (let time = 0; time < 10; time++) {
      renewals(1_000);
      expect(plans.lost(LOST)).toBe(true);
    }
  });
});
