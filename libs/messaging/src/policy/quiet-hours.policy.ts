import { getCountry } from 'countries-and-timezones';
import { parsePhoneNumberFromString } from 'libphonenumber-js/core';
import metadata from 'libphonenumber-js/metadata.min';
import type { ChannelRegistry } from '../message/channel-registry.js';
import { MessagingConfigError } from '../message/errors.js';
import type {
  MessagingPolicy,
  PolicyDecision,
  PolicyDecisions,
  PolicyScope,
  PolicySlice,
} from '../ports/messaging-policy.js';
import type { QuietHoursOptions } from '../ports/policy-options.js';
import { isSecret } from '../store/rows/stored-content.js';

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const MINUTE = 60_000;
const DAY = 1_440;
/** Longest search for an allowed time, in ms; the zones of every country lie closer together. */
const LOOK_AHEAD = 48 * 60 * MINUTE;
/** Number of digits that suffice to find a number's country. */
const COUNTRY_DIGITS = 8;
const MAX_PREFIXES = 20_000;

/** Minutes of the day, `to` excluded; the span passes midnight where `from` is after `to`. */
export interface QuietSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * Defers messages during the night in the time zone of the recipient's phone number. A one-time code
 * goes at any hour: the person waits for it, and it would expire.
 */
export class QuietHoursPolicy implements MessagingPolicy {
  readonly name = 'quiet-hours';
  readonly scope: PolicyScope = { recipients: 'unread' };
  readonly #span: QuietSpan;
  readonly #zonesOf: (phone: string) => readonly string[];

  /** @throws MessagingConfigError */
  constructor(
    { from, to, timeZones }: QuietHoursOptions,
    private readonly registry: ChannelRegistry,
  ) {
    this.#span = { from: checked('from', from), to: checked('to', to) };
    if (this.#span.from === this.#span.to)
      throw new MessagingConfigError('policy.quietHours: from and to must differ');
    this.#zonesOf = timeZones ?? zonesOfNumber;
  }

  async decide({ items, now }: PolicySlice): Promise<PolicyDecisions> {
    const decisions = new Map<number, PolicyDecision>();
    const ends = new Map<string, number | undefined>();
    items.forEach(({ recipient, message: { channel, category, content } }, index) => {
      if (recipient.kind !== 'phone' || isSecret(content)) return;
      const kept = this.registry.find(channel)?.consent?.quietHours;
      if (kept && !kept.includes(category)) return;
      const zones = this.#zonesOf(recipient.value);
      const key = zones.join(' ');
      if (!ends.has(key)) ends.set(key, quietUntil(zones.filter(isZone), this.#span, now));
      const until = ends.get(key);
      if (until !== undefined) decisions.set(index, { decision: 'defer', until: new Date(until) });
    });
    return decisions;
  }
}

function checked(field: string, time: string): number {
  if (!TIME.test(time))
    throw new MessagingConfigError(
      `policy.quietHours.${field}: ${JSON.stringify(time)} is no time of day; write '21:00'`,
    );
  return minutesOf(time);
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

const prefixes = new Map<string, readonly string[]>();

/** IANA zones of the number's country, as a mobile number has no location; empty if unknown. */
export function zonesOfNumber(phone: string): readonly string[] {
  const prefix = phone.slice(0, COUNTRY_DIGITS);
  const known = prefixes.get(prefix);
  if (known) return known;
  const country = parsePhoneNumberFromString(`+${phone}`, metadata)?.country;
  const zones = (country && getCountry(country)?.timezones) ?? [];
  if (prefixes.size >= MAX_PREFIXES) prefixes.clear();
  prefixes.set(prefix, zones);
  return zones;
}

function isZone(zone: string): boolean {
  try {
    minuteOfDay(zone, 0);
    return true;
  } catch {
    return false;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Minutes since local midnight. @throws RangeError for an unknown zone */
export function minuteOfDay(timeZone: string, at: number): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' });
    formats.set(timeZone, format);
  }
  return minutesOf(format.format(at));
}

export function isQuiet({ from, to }: QuietSpan, minute: number): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/**
 * The first time, in epoch milliseconds, outside the quiet span of every zone; `undefined`: it is
 * not quiet now. Where there is no such time, the end of the span in the first zone.
 */
export function quietUntil(
  zones: readonly string[],
  span: QuietSpan,
  now: number,
): number | undefined {
  let at = now;
  let first: number | undefined;
  for (;;) {
    const zone = zones.find((one) => isQuiet(span, minuteOfDay(one, at)));
    if (zone === undefined) return at === now ? undefined : at;
    at = endIn(zone, span, at);
    first ??= at;
    if (at - now > LOOK_AHEAD) return first;
  }
}

/**
 * The first minute after `at` that is not quiet: the next local `to`, or the end of a skipped hour that
 * `to` is in. In a repeated hour the wall clock decides both times.
 */
function endIn(zone: string, span: QuietSpan, at: number): number {
  const whole = Math.floor(at / MINUTE) * MINUTE;
  let end = whole + ((span.to - minuteOfDay(zone, at) + DAY) % DAY) * MINUTE;
  if (minuteOfDay(zone, end) === span.to) return end;
  // The clock changes before that: the end comes earlier or later, or the start comes again.
  end = whole;
  while (isQuiet(span, minuteOfDay(zone, end))) end += MINUTE;
  return end;
}
