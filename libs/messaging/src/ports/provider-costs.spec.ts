import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ProviderCosts } from './provider-costs.js';

describe('costs of a provider', () => {
  const costs = ProviderCosts.of({ '+234': '3', '234803': '2.5000015', '*': '0.0000004' }, 'NGN');

  it('are of the longest prefix, for all parts, and rounded half up once for a message', () => {
    expect(costs.amountOf('2348011110001', 2)).toBe(6_000_000n);
    expect(costs.amountOf('2348031110001', 1)).toBe(2_500_002n);
    expect(costs.amountOf('2348031110001', 2)).toBe(5_000_003n);
    // An e-mail address.
    expect(costs.amountOf('', 1)).toBe(0n);
    expect(costs.amountOf('447500000123', 2)).toBe(1n);
    expect(ProviderCosts.of({ 234: '1' }).amountOf('44', 1)).toBeUndefined();
  });

  it('are exact for every decimal number', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 24n }),
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 10 }),
        (units, digits, parts) => {
          const text = units.toString().padStart(digits + 1, '0');
          const whole = text.slice(0, text.length - digits);
          const cost = digits === 0 ? whole : `${whole}.${text.slice(text.length - digits)}`;
          const amount = ProviderCosts.of({ '*': cost }, 'NGN').amountOf('1', parts)!;
          // Less than half of the last place away, as fractions of whole numbers.
          const exact = 2n * units * BigInt(parts) * 1_000_000n;
          const shown = 2n * amount * 10n ** BigInt(digits);
          const half = 10n ** BigInt(digits);
          expect(shown - exact <= half && exact - shown < half).toBe(true);
        },
      ),
    );
  });
});
