import { describe, expect, it } from '@jest/globals';
import { BodyBudget } from './large-bodies.js';

describe('BodyBudget', () => {
  it('refuses a holder above its share with 429, and a process above its own with 503', () => {
    const budget = new BodyBudget(100, 40);
    budget.take('a', 40);
    expect(() => budget.take('a', 1)).toThrow(
      expect.objectContaining({ status: 429, headers: { 'retry-after': '1' } }),
    );
    budget.take('b', 40);
    budget.take('c', 20);
    expect(() => budget.take('d', 1)).toThrow(
      expect.objectContaining({ status: 503, headers: { 'retry-after': '1' } }),
    );
    budget.release('c', 20);
    budget.take('d', 20);
  });

  it('takes a lone body of any size', () => {
    const budget = new BodyBudget(100, 40);
    budget.take('a', 1_000);
    expect(() => budget.take('b', 1)).toThrow(expect.objectContaining({ status: 503 }));
    budget.release('a', 1_000);
    budget.take('b', 1);
    budget.take('a', 50);
  });
});
