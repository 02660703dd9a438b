import { expect, it } from '@jest/globals';
import { ApiError } from '../http/api-error.js';
import { changedGuard, type WrittenGuard } from './account-guard.js';

const refusalOf = (written: WrittenGuard) => {
  try {
    changedGuard({}, written);
    return undefined;
  } catch (error) {
    return error instanceof ApiError ? error.body.error.message : error;
  }
};

it('limits are changed one by one, and taken away with off', () => {
  const first = changedGuard({}, { only: ['NG', 'GH,KE'], recipient: '10/h', range: '20/h:hold' });
  expect(first).toEqual({
    countries: { only: ['NG', 'GH', 'KE'] },
    recipient: { limit: '10/h' },
    range: { limit: '20/h', action: 'hold' },
  });
  const second = changedGuard(first ?? {}, {
    countriesAction: 'alert',
    recipient: 'off',
    growth: '5:1000:alert',
  });
  expect(second).toEqual({
    countries: { only: ['NG', 'GH', 'KE'], action: 'alert' },
    range: { limit: '20/h', action: 'hold' },
    growth: { factor: 5, from: 1_000, action: 'alert' },
  });
  expect(changedGuard(second ?? {}, { only: ['off'], range: 'off', growth: 'off' })).toBeNull();
  expect(changedGuard(first ?? {}, { except: ['KP'] })?.countries).toEqual({ except: ['KP'] });
});

it.each<[WrittenGuard, RegExp]>([
  [{ recipient: '10' }, /^recipient: .*is no rate/],
  [{ prefix: '10/h:refuse' }, /^prefix: must be 'deny' or 'hold' or 'alert'/],
  [{ range: '10/8d' }, /^range: must have a window of at most 7d/],
  [{ only: ['Nigeria'] }, /^countries: must be two capital letters/],
  [{ only: [','] }, /^countries: must name a country/],
  [{ only: ['NG'], except: ['GH'] }, /^countries: must have either only or except/],
  [{ countriesAction: 'hold' }, /^countries-action: needs countries/],
  [{ growth: 'x:10' }, /^growth: must be a number from 1 to 1000/],
  [{ growth: '2' }, /^growth: must be a whole number/],
])('%j is refused by its name', (written, message) => {
  expect(refusalOf(written)).toMatch(message);
});
