import { getCountry } from 'countries-and-timezones';
import { parsePhoneNumberFromString } from 'libphonenumber-js/core';
import metadata from 'libphonenumber-js/metadata.min';
import { MessagingConfigError } from '../message/errors.js';
import type {
  MessagingPolicy,
  PolicyDecision,
  PolicyDecisions,
  PolicyScope,
  PolicySlice,
} from '../ports/messaging-policy.js';
import type { QuietHoursOptions } from '../ports/policy-options.js';

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;
const MINUTE = 60_000;
const DAY = 1_440;
/** Milliseconds after which zones that are quiet in turn are quiet for ever: no country's zones are further apart. */
const LOOK_AHEAD = 48 * 60 * MINUTE;
/** Digits of a number that are enough to tell its country. */
const COUNTRY_DIGITS = 8;
const MAX_PREFIXES = 20_000;

/** Minutes of the day, `from` included, `to` not; `from` after `to` passes midnight. */
export interface QuietSpan {
  readonly from: number;
  readonly to: number;
}

/** Defers messages at night until the morning, by the clock of the recipient's phone number. */
export class QuietHoursPolicy implements MessagingPolicy {
  readonly name = 'quiet-hours';
  readonly scope: PolicyScope = { recipients: 'unread' };
  readonly #span: QuietSpan;
  readonly #zonesOf: (phone: string) => readonly string[];

  /** @throws MessagingConfigError */
  constructor({ from, to, timeZones }: QuietHoursOptions) {
    this.#span = { from: minutesOf('from', from), to: minutesOf('to', to) };
    if (this.#span.from === this.#span.to)
      throw new MessagingConfigError('policy.quietHours: from and to must differ');
    this.#zonesOf = timeZones ?? zonesOfNumber;
  }

  async decide({ items, now }: PolicySlice): Promise<PolicyDecisions> {
    const decisions = new Map<number, PolicyDecision>();
    const ends = new Map<string, PolicyDecision | undefined>();
    items.forEach(({ recipient }, index) => {
      if (recipient.kind !== 'phone') return;
      const zones = this.#zonesOf(recipient.value);
      const key = zones.join(' ');
      if (!ends.has(key)) ends.set(key, this.#decision(zones, now));
      const decision = ends.get(key);
      if (decision) decisions.set(index, decision);
    });
    return decisions;
  }

  #decision(zones: readonly string[], now: number): PolicyDecision | undefined {
    const until = quietUntil(zones.filter(isZone), this.#span, now);
    return until === undefined ? undefined : { decision: 'defer', until: new Date(until) };
  }
}

function minutesOf(field: string, time: string): number {
  const [, hours, minutes] = TIME.exec(time) ?? [];
  if (hours === undefined)
    throw new MessagingConfigError(
      `policy.quietHours.${field}: ${JSON.stringify(time)} is no time of day; write '21:00'`,
    );
  return Number(hours) * 60 + Number(minutes);
}

const prefixes = new Map<string, readonly string[]>();

/**
 * IANA zones of the number's country; a mobile number does not tell where in it. Countries by
 * libphonenumber's metadata, zones by the IANA database. None where the number names no country.
 */
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

/** False for a zone that is younger than the runtime. */
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
  if (!format)
    formats.set(
      timeZone,
      (format = new Intl.DateTimeFormat('en-GB', {
        timeZone,
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
      })),
    );
  const [hours = '0', minutes = '0'] = format.format(at).split(':');
  return Number(hours) * 60 + Number(minutes);
}

export function isQuiet({ from, to }: QuietSpan, minute: number): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/**
 * When it is quiet in none of the zones any more, epoch milliseconds; `undefined`: it is not quiet. Where
 * the zones leave no such moment, the end in the first of them.
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

/** The next local `to`; a change of the clocks before it is followed minute by minute. */
function endIn(zone: string, span: QuietSpan, at: number): number {
  const whole = Math.floor(at / MINUTE) * MINUTE;
  let end = whole + ((span.to - minuteOfDay(zone, at) + DAY) % DAY) * MINUTE;
  while (isQuiet(span, minuteOfDay(zone, end))) end += MINUTE;
  return end;
}
