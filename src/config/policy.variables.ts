import type { CappedCategory, FrequencyCapOptions, QuietHoursOptions } from '@dundun/messaging';
import { optional } from './variable.js';

/** When recipients are left alone, and how much they get; the gateway's own rules, for all accounts. */
export const POLICY_VARIABLES = {
  QUIET_HOURS: optional({
    parse: quietHours,
    description:
      'When nothing leaves, by the recipient’s own clock: `21:00-08:00`. What is due then waits, recipient by recipient; a WhatsApp send is answered `queued` after `WHATSAPP_WAIT`. See [policy](policy.md#in-the-gateway).',
  }),
  FREQUENCY_CAP: optional({
    parse: frequencyCap,
    description:
      'Most messages an account may send to one recipient, by category, in any window of so long: `marketing=2/7d sms=5/24h`. More are refused with `frequency_capped`. Setting it adds an index to the tables (`npm run migration:run` in production).',
  }),
} as const;

function quietHours(value: string): QuietHoursOptions {
  const [, from = '', to = ''] =
    /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/.exec(value) ?? [];
  if (from === to) throw new Error('must be two different times of day; write it as 21:00-08:00');
  return { from, to };
}

const CATEGORIES: readonly CappedCategory[] = [
  'sms',
  'utility',
  'marketing',
  'authentication',
  'service',
];
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function frequencyCap(value: string): FrequencyCapOptions {
  const caps = new Map<CappedCategory, { max: number; per: number }>();
  for (const entry of value.split(/\s+/)) {
    const [, name, max, count, unit] = /^([a-z]+)=(\d{1,9})\/(\d{1,5})(m|h|d)$/.exec(entry) ?? [];
    const category = CATEGORIES.find((one) => one === name);
    const per = Number(count) * UNITS[unit as 'm'];
    if (category === undefined || caps.has(category) || !(Number(max) > 0) || !(per > 0))
      throw new Error(
        `must be messages per time by category (${CATEGORIES.join(', ')}); write it as marketing=2/7d sms=5/24h`,
      );
    caps.set(category, { max: Number(max), per });
  }
  return Object.fromEntries(caps);
}
