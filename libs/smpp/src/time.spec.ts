import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SmppValueError } from './errors.js';
import { formatAbsoluteTime, formatRelativeTime, parseReceiptDate, parseSmppTime } from './time.js';

describe('times of SMPP', () => {
  it('an absolute time is read as written, to a tenth of a second', () => {
    const min = new Date('2000-01-01T00:00:00Z');
    const max = new Date('2099-12-31T23:59:59.900Z');
    fc.assert(
      fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
        const tenths = Math.floor(date.getTime() / 100) * 100;
        expect(parseSmppTime(formatAbsoluteTime(date))?.getTime()).toBe(tenths);
      }),
    );
  });

  it('a relative time counts from now', () => {
    const now = new Date('2026-11-24T09:00:00Z');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 31 * 86_400 }), (seconds) => {
        const text = formatRelativeTime(seconds * 1_000);
        expect(parseSmppTime(text, now)?.getTime()).toBe(now.getTime() + seconds * 1_000);
      }),
    );
    expect(formatRelativeTime(1)).toBe('000000000001000R');
    expect(parseSmppTime('010200000000000R', now)?.toISOString()).toBe('2028-01-24T09:00:00.000Z');
  });

  it('quarters of an hour are read as the offset from UTC', () => {
    expect(parseSmppTime('261124100000504+')?.toISOString()).toBe('2026-11-24T09:00:00.500Z');
    expect(parseSmppTime('261124100000004-')?.toISOString()).toBe('2026-11-24T11:00:00.000Z');
  });

  it.each([
    '',
    '2611240900',
    '261324090000000+',
    '260231090000000+',
    '261124090000049+',
    'x'.repeat(16),
  ])('%j is no time', (text) => expect(parseSmppTime(text)).toBeUndefined());

  it('a time that SMPP cannot express is an error', () => {
    expect(() => formatAbsoluteTime(new Date('1999-12-31'))).toThrow(SmppValueError);
    expect(() => formatAbsoluteTime(new Date(Number.NaN))).toThrow(SmppValueError);
    expect(() => formatRelativeTime(-1)).toThrow(SmppValueError);
    expect(() => formatRelativeTime(40 * 86_400_000)).toThrow(/absolute time/);
  });
});

describe('dates of receipts', () => {
  it.each([
    ['2611240900', 'UTC', '2026-11-24T09:00:00.000Z'],
    ['261124090005', 'UTC', '2026-11-24T09:00:05.000Z'],
    ['2611240900', 'Africa/Lagos', '2026-11-24T08:00:00.000Z'],
    ['2611240900', 'Asia/Kathmandu', '2026-11-24T03:15:00.000Z'],
    ['2607010900', 'Europe/Berlin', '2026-07-01T07:00:00.000Z'],
    ['2610250159', 'Europe/Berlin', '2026-10-24T23:59:00.000Z'],
    ['2610250400', 'Europe/Berlin', '2026-10-25T03:00:00.000Z'],
    ['202611240900', 'Africa/Lagos', '2026-11-24T08:00:00.000Z'],
    ['20261124090005', 'UTC', '2026-11-24T09:00:05.000Z'],
    ['201112131415', 'UTC', '2020-11-12T13:14:15.000Z'],
    ['26-11-24 09:00', 'UTC', '2026-11-24T09:00:00.000Z'],
  ])('%s in %s is %s', (text, timeZone, iso) => {
    expect(parseReceiptDate(text, timeZone)?.toISOString()).toBe(iso);
  });

  it.each(['', '261124', '26112409', '2613240900', '2611242400', '202613240900', '26.11.24 09:00'])(
    '%j is no date',
    (text) => {
      expect(parseReceiptDate(text)).toBeUndefined();
    },
  );

  it('an unknown time zone is an error', () => {
    expect(() => parseReceiptDate('2611240900', 'Mars/Olympus')).toThrow(RangeError);
  });
});
