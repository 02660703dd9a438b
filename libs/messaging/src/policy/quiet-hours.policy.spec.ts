import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressOfKey } from '../message/address.js';
import { registryOf } from '../channels/built-in-channels.js';
import { MessagingConfigError } from '../message/errors.js';
import { UNKNOWN_RECIPIENT } from '../contacts/recipient-facts.js';
import type { PolicyMessage } from '../ports/messaging-policy.js';
import {
  isQuiet,
  minuteOfDay,
  QuietHoursPolicy,
  quietUntil,
  zonesOfNumber,
} from './quiet-hours.policy.js';

const message: PolicyMessage = {
  tenant: '',
  channel: 'sms',
  sender: 'ACME',
  content: { kind: 'text', text: 'Hi' },
  category: 'transactional',
};
const LAGOS = '2348012345678';
const LONDON = '447911123456';
const NEW_YORK = '12125550123';

async function untilOf(
  recipient: string,
  now: number,
  content: PolicyMessage['content'] = message.content,
): Promise<Date | undefined> {
  const policy = new QuietHoursPolicy({ from: '21:00', to: '08:00' }, registryOf());
  const items = [
    {
      message: { ...message, content },
      recipient: addressOfKey(recipient),
      facts: UNKNOWN_RECIPIENT,
    },
  ];
  const decision = (await policy.decide({ stage: 'dispatch', now, items })).get(0);
  return decision?.decision === 'defer' ? decision.until : undefined;
}

describe('quiet hours', () => {
  it("quiet hours use the recipient's local time", async () => {
    // 20:30 UTC: 21:30 in Lagos; 21:30 in London in summer, 20:30 in winter.
    expect(await untilOf(LAGOS, Date.UTC(2026, 0, 10, 20, 30))).toEqual(
      new Date(Date.UTC(2026, 0, 11, 7)),
    );
    expect(await untilOf(LONDON, Date.UTC(2026, 0, 10, 20, 30))).toBeUndefined();
    expect(await untilOf(LONDON, Date.UTC(2026, 6, 10, 20, 30))).toEqual(
      new Date(Date.UTC(2026, 6, 11, 7)),
    );
  });

  it('a one-time code does not wait for the end of quiet hours', async () => {
    const night = Date.UTC(2026, 0, 10, 22);
    const code = { kind: 'text', text: 'Your code is 123456', secret: true } as const;
    expect(await untilOf(LAGOS, night)).toBeDefined();
    expect(await untilOf(LAGOS, night, code)).toBeUndefined();
  });

  it('quiet hours do not apply to an address without a phone number', async () => {
    expect(await untilOf('ada@example.com', Date.UTC(2026, 0, 10, 22))).toBeUndefined();
  });

  it('quiet hours begin and end on the minute', async () => {
    expect(await untilOf(LAGOS, Date.UTC(2026, 0, 10, 19, 59, 59, 999))).toBeUndefined();
    expect(await untilOf(LAGOS, Date.UTC(2026, 0, 10, 20))).toBeDefined();
    expect(await untilOf(LAGOS, Date.UTC(2026, 0, 11, 6, 59, 59, 999))).toBeDefined();
    expect(await untilOf(LAGOS, Date.UTC(2026, 0, 11, 7))).toBeUndefined();
  });

  it('a country with several zones is quiet where any zone is', async () => {
    // 10:00 in New York is 05:00 in Honolulu, where it is quiet until 08:00.
    expect(await untilOf(NEW_YORK, Date.UTC(2026, 0, 10, 15))).toEqual(
      new Date(Date.UTC(2026, 0, 10, 18)),
    );
    expect(zonesOfNumber(NEW_YORK)).toEqual(
      expect.arrayContaining(['America/New_York', 'Pacific/Honolulu']),
    );
    expect(zonesOfNumber(LAGOS)).toEqual(['Africa/Lagos']);
  });

  it('a deferral ends outside quiet hours', () => {
    const zones = fc.constantFrom(
      'Africa/Lagos',
      'Europe/London',
      'America/New_York',
      'Asia/Kolkata',
    );
    const minute = fc.nat(1_439);
    const time = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2028, 0) });
    fc.assert(
      fc.property(zones, minute, minute, time, (zone, from, to, now) => {
        fc.pre(from !== to);
        const span = { from, to };
        const until = quietUntil([zone], span, now);
        expect(until !== undefined).toBe(isQuiet(span, minuteOfDay(zone, now)));
        if (until === undefined) return;
        expect(until).toBeGreaterThan(now);
        expect(until - now).toBeLessThan(26 * 3_600_000);
        expect(isQuiet(span, minuteOfDay(zone, until))).toBe(false);
      }),
    );
  });

  // London 2026: 01:00 becomes 02:00 on 29 March, 02:00 becomes 01:00 on 25 October.
  it.each([
    ['the clock goes forward', '21:00', '08:00', '2026-03-28T23:00Z', '2026-03-29T07:00Z'],
    ['the clock goes forward later', '21:00', '08:00', '2026-03-29T00:59Z', '2026-03-29T07:00Z'],
    ['the clock has gone forward', '21:00', '08:00', '2026-03-29T01:00Z', '2026-03-29T07:00Z'],
    ['the clock goes back', '21:00', '08:00', '2026-10-24T22:00Z', '2026-10-25T08:00Z'],
    ['the clock has gone back', '21:00', '08:00', '2026-10-25T01:00Z', '2026-10-25T08:00Z'],
    ['the end is skipped', '21:00', '01:30', '2026-03-28T23:00Z', '2026-03-29T01:00Z'],
    ['the start is skipped', '01:30', '08:00', '2026-03-29T01:00Z', '2026-03-29T07:00Z'],
    ['all of it is skipped', '01:15', '01:45', '2026-03-29T00:59Z', undefined],
    [
      'the end comes twice, before the first',
      '21:00',
      '01:30',
      '2026-10-24T22:00Z',
      '2026-10-25T00:30Z',
    ],
    ['the end comes twice, between them', '21:00', '01:30', '2026-10-25T00:45Z', undefined],
    [
      'the end comes twice, before the second',
      '21:00',
      '01:30',
      '2026-10-25T01:10Z',
      '2026-10-25T01:30Z',
    ],
    ['the start comes twice, before the second', '01:30', '08:00', '2026-10-25T01:15Z', undefined],
    [
      'the start comes twice, after the second',
      '01:30',
      '08:00',
      '2026-10-25T01:30Z',
      '2026-10-25T08:00Z',
    ],
  ])('quiet hours end by the wall clock where %s', (_what, from, to, now, until) => {
    const minutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
    const span = { from: minutes(from), to: minutes(to) };
    const end = quietUntil(['Europe/London'], span, Date.parse(now));
    expect(end && new Date(end).toISOString()).toBe(until && new Date(until).toISOString());
  });

  it('quiet hours end at the first minute that is not quiet, around every change of a clock', () => {
    // The last is half an hour.
    const changes = fc.constantFrom(
      ['America/New_York', '2026-03-08T07:00Z'],
      ['America/New_York', '2026-11-01T06:00Z'],
      ['Africa/Cairo', '2026-04-23T22:00Z'],
      ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
    );
    const near = fc.integer({ min: -720, max: 120 });
    const minute = fc.nat(1_439);
    fc.assert(
      fc.property(changes, near, minute, minute, ([zone = '', change = ''], ago, from, to) => {
        fc.pre(from !== to);
        const span = { from, to };
        const now = Date.parse(change) + ago * 60_000;
        let first = now;
        while (isQuiet(span, minuteOfDay(zone, first))) first += 60_000;
        expect(quietUntil([zone], span, now)).toBe(first === now ? undefined : first);
      }),
      { numRuns: 1_000, examples: [[['America/New_York', '2026-11-01T06:00Z'], -1, 61, 0]] },
    );
  });

  it("a country that is always quiet somewhere waits for its first zone's morning", () => {
    const span = { from: 0, to: 1_380 };
    const zones = ['Africa/Lagos', 'Asia/Kolkata', 'Asia/Tokyo'];
    const until = quietUntil(zones, span, Date.UTC(2026, 0, 1, 12)) as number;
    expect(isQuiet(span, minuteOfDay('Africa/Lagos', until))).toBe(false);
  });

  it('an invalid quiet-hours time fails the boot', () => {
    expect(() => new QuietHoursPolicy({ from: '9pm', to: '08:00' }, registryOf())).toThrow(
      MessagingConfigError,
    );
    expect(() => new QuietHoursPolicy({ from: '08:00', to: '08:00' }, registryOf())).toThrow(
      'must differ',
    );
  });
});
