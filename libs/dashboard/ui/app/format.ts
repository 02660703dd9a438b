const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const FULL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const WORDS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short' });
const SHORT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const NUMBER = new Intl.NumberFormat('en');
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const fullTime = (iso: string): string => FULL.format(new Date(iso));

/** As the API writes times. */
const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

/** A time of the API as {@link fullTime}; any other text as it is. */
export const textOrTime = (value: string): string => (TIME.test(value) ? fullTime(value) : value);
/** `30 Nov, 10:07`. */
export const shortTime = (iso: string): string => SHORT.format(new Date(iso));

/** `Friday, 1 January 2150 at 10:00`, of the value of a field for a time; empty without one. */
export function timeInWords(value: string): string {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? '' : WORDS.format(date);
}
export const clockTime = (iso: string): string => CLOCK.format(new Date(iso));
export const formatNumber = (value: number): string => NUMBER.format(value);
export const compactNumber = (value: number): string => COMPACT.format(value);

/** `4 min. ago`; after a day the date. */
export function relativeTime(iso: string, now = Date.now()): string {
  const away = new Date(iso).getTime() - now;
  const size = Math.abs(away);
  if (size < MINUTE) return away > 0 ? 'in a moment' : 'just now';
  if (size < HOUR) return RELATIVE.format(Math.trunc(away / MINUTE), 'minute');
  if (size < DAY) return RELATIVE.format(Math.trunc(away / HOUR), 'hour');
  return shortTime(iso);
}

/** `23 h 4 min`, `4 min 10 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (h > 0) return `${h} h ${m} min`;
  return m > 0 ? `${m} min ${s} s` : `${s} s`;
}

/** `67%`; only all is `100%` and only none `0%`. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const value = (100 * part) / whole;
  if (value <= 0 || value >= 100) return `${Math.round(value)}%`;
  if (value < 0.1) return '<0.1%';
  if (value > 99.9) return '>99.9%';
  return `${value < 10 || value > 90 ? value.toFixed(1) : Math.round(value)}%`;
}

/** A field of a content in words: `Ada <ada@example.com>`, `one, two`, `max_digits: 1`. */
export function valueWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueWords).join(', ');
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return `${value}`;
  if (typeof value !== 'object' || value === null) return '–';
  const { email, name, ...rest } = value as Readonly<Record<string, unknown>>;
  if (typeof email === 'string' && Object.keys(rest).length === 0)
    return typeof name === 'string' ? `${name} <${email}>` : email;
  return Object.entries(value)
    .map(([key, one]) => `${key}: ${valueWords(one)}`)
    .join('; ');
}

/** `1 message`, `2 messages`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** As an input of type `datetime-local` takes it. */
export function localTime(iso: string | null): string {
  const date = iso ? new Date(iso) : new Date();
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
