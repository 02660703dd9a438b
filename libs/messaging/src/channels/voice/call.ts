import type { ReportDetails } from '../../message/events.js';

/** Facts of a call from its reports. `null`: not known, or not yet. */
export interface CallFacts {
  readonly answeredAt: Date | null;
  readonly endedAt: Date | null;
  /** Seconds from the answer to the end; 0 where the call was not answered. */
  readonly duration: number | null;
  /** Seconds that are billed, in started blocks. */
  readonly billedSeconds: number | null;
  /** The provider's cost, else that of the rate card, as a decimal number. */
  readonly cost: string | null;
  readonly currency: string | null;
  /** The provider's word, such as `normal_clearing`. */
  readonly hangupCause: string | null;
  /** `human`, `machine`, or a word of the provider. */
  readonly answeredBy: string | null;
  /** The digits that the person pressed. */
  readonly digits: string | null;
  /** How often the number was dialled. */
  readonly attempts: number;
}

/** One entry of a call's log, oldest first. */
export interface CallEntry {
  /** A status or an event of the channel. */
  readonly name: string;
  readonly at: Date;
  readonly details: ReportDetails | null;
}

export interface CallLog {
  /** The entries since the last dial. */
  readonly details: ReportDetails;
  readonly redials: number;
}

/** Joins the details of the last dial's reports; a later report has the last word. */
export function callLog(entries: readonly CallEntry[], redial: string): CallLog {
  let details: Record<string, string | number | null> = {};
  let redials = 0;
  for (const { name, at, details: own } of entries) {
    if (name === redial) {
      redials++;
      details = {};
      continue;
    }
    if (name === 'answered') details['answered_at'] ??= at.toISOString();
    for (const [field, value] of Object.entries(own ?? {}))
      if (value !== null) details[field] = value;
  }
  return { details, redials };
}

/** Seconds of the talk, from the details or from its times; `null`: not known. */
export function durationOf(details: ReportDetails): number | null {
  const given = numberOf(details['duration']);
  if (given !== null) return Math.ceil(given);
  const answered = timeOf(details['answered_at']);
  const ended = timeOf(details['ended_at']);
  if (!answered || !ended) return null;
  return Math.max(0, Math.ceil((ended.getTime() - answered.getTime()) / 1_000));
}

export function timeOf(value: unknown): Date | null {
  const time = new Date(typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(time.getTime()) ? null : time;
}

/** A number of seconds; a provider may write it as a text. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null;
}

export function wordOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
