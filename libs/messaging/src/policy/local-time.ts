const MINUTE = 60_000;
const DAY = 1_440;
/** No country's zones are further apart; what is quiet longer than this is quiet for ever. */
const LOOK_AHEAD = 48 * 60 * MINUTE;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Minutes since local midnight. @throws RangeError for a zone nobody knows */
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

/** Minutes of the day, `from` included, `to` not; `from` after `to` goes over midnight. */
export interface QuietSpan {
  readonly from: number;
  readonly to: number;
}

export function isQuiet({ from, to }: QuietSpan, minute: number): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/**
 * When it is quiet in none of the zones any more, epoch milliseconds; `undefined`: it is not quiet.
 * Where the zones leave no such moment, when it ends in the first of them.
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

/** The next local `to`; a change of the clocks in between is followed minute by minute. */
function endIn(zone: string, span: QuietSpan, at: number): number {
  const whole = Math.floor(at / MINUTE) * MINUTE;
  let end = whole + ((span.to - minuteOfDay(zone, at) + DAY) % DAY) * MINUTE;
  while (isQuiet(span, minuteOfDay(zone, end))) end += MINUTE;
  return end;
}
