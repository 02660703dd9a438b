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

async function untilOf(recipient: string, now: number): Promise<Date | undefined> {
  const policy = new QuietHoursPolicy({ from: '21:00', to: '08:00' }, registryOf());
  const items = [{ message, recipient: addressOfKey(recipient), facts: UNKNOWN_RECIPIENT }];
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
