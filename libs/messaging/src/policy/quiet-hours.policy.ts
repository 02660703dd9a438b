import { MessagingConfigError } from '../message/errors.js';
import type {
  MessagingPolicy,
  PolicyScope,
  PolicySlice,
  Verdict,
  Verdicts,
} from '../ports/messaging-policy.js';
import type { QuietHoursOptions } from '../ports/policy-options.js';
import { minuteOfDay, type QuietSpan, quietUntil } from './local-time.js';
import { zonesOfNumber } from './number-zones.js';

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** Nobody is disturbed at night: what would be waits until the morning, by the recipient's own clock. */
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

  async decide({ items, now }: PolicySlice): Promise<Verdicts> {
    const verdicts = new Map<number, Verdict>();
    const ends = new Map<string, Verdict | undefined>();
    items.forEach(({ recipient }, index) => {
      const zones = this.#zonesOf(recipient);
      const key = zones.join(' ');
      if (!ends.has(key)) ends.set(key, this.#verdict(zones, now));
      const verdict = ends.get(key);
      if (verdict) verdicts.set(index, verdict);
    });
    return verdicts;
  }

  #verdict(zones: readonly string[], now: number): Verdict | undefined {
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

/** The runtime may be older than the zone. */
function isZone(zone: string): boolean {
  try {
    minuteOfDay(zone, 0);
    return true;
  } catch {
    return false;
  }
}
