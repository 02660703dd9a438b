import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MessagingConfigError } from '../../message/errors.js';
import { billingIncrement } from '../../ports/rate-card.js';
import { billedSeconds, costOf } from './billing.js';

const increment = (text: string) => billingIncrement('billing', text);

describe('billing of calls', () => {
  it.each([
    ['60/60', 61, 120],
    ['60/60', 60, 60],
    ['60/60', 1, 60],
    ['6/6', 61, 66],
    ['1/1', 61, 61],
    ['30/6', 31, 36],
    ['60/60', 0, 0],
  ])('at %s a call of %i s is billed %i s', (blocks, duration, billed) => {
    expect(billedSeconds(duration, increment(blocks))).toBe(billed);
  });

  it('a call is billed whole started blocks, at least its duration, and less than a block more', () => {
    const blocks = fc.record({
      first: fc.integer({ min: 1, max: 300 }),
      next: fc.integer({ min: 1, max: 300 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 36_000 }), blocks, (duration, { first, next }) => {
        const billed = billedSeconds(duration, { first, next });
        expect(billed).toBeGreaterThanOrEqual(Math.max(duration, first));
        expect((billed - first) % next).toBe(0);
        expect(billed).toBeLessThan(Math.max(first + 1, duration + next));
      }),
    );
  });

  it('a longer call is never cheaper, and two halves never cost less than the whole', () => {
    const seconds = fc.integer({ min: 1, max: 36_000 });
    const block = fc.integer({ min: 1, max: 300 });
    fc.assert(
      fc.property(seconds, seconds, block, (one, other, next) => {
        const blocks = { first: next, next };
        const [a, b] = [billedSeconds(one, blocks), billedSeconds(other, blocks)];
        expect(billedSeconds(Math.max(one, other), blocks)).toBe(Math.max(a, b));
        expect(billedSeconds(one + other, blocks)).toBeLessThanOrEqual(a + b);
      }),
    );
  });

  it('a minute costs its price, and any time its share to the fourth further digit', () => {
    const price = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 9n }), fc.integer({ min: 0, max: 6 }));
    fc.assert(
      fc.property(price, fc.integer({ min: 0, max: 36_000 }), ([units, digits], seconds) => {
        const text = units.toString().padStart(digits + 1, '0');
        const amount =
          digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(text.length - digits)}`;
        expect(costOf({ amount, currency: 'NGN' }, 60)).toEqual({ amount, currency: 'NGN' });
        const cost = costOf({ amount, currency: 'NGN' }, seconds).amount;
        const [whole = '', fraction = ''] = cost.split('.');
        const scaled = BigInt(whole + fraction.padEnd(digits + 4, '0'));
        const exact = units * 10_000n * BigInt(seconds);
        expect(scaled * 60n - exact).toBeGreaterThan(-31n);
        expect(scaled * 60n - exact).toBeLessThan(31n);
      }),
    );
    expect(costOf({ amount: '0.10', currency: 'NGN' }, 10).amount).toBe('0.016667');
    expect(costOf({ amount: '15', currency: 'NGN' }, 120).amount).toBe('30');
  });

  it.each([['60'], ['0/60'], ['60/0'], ['60/60/60'], [''], ['a/b']])(
    'the increment %s stops the boot',
    (text) => {
      expect(() => increment(text)).toThrow(MessagingConfigError);
    },
  );
});
