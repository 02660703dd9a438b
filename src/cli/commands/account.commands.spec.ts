import { describe, expect, it } from '@jest/globals';
import { readExpiry } from './account.commands.js';

describe('readExpiry', () => {
  it.each([
    ['90d', 90 * 86_400_000],
    ['12h', 12 * 3_600_000],
    ['2w', 14 * 86_400_000],
    ['1970-01-02T00:00:00+01:00', 23 * 3_600_000],
  ])('%s', (written, time) => {
    expect(readExpiry(written, 0).getTime()).toBe(time);
  });

  it.each(['', 'soon', '90', '2027-01-31', '-1d', '5 blinks'])('refuses %j', (written) => {
    expect(() => readExpiry(written)).toThrow('expires: must be a time');
  });
});
