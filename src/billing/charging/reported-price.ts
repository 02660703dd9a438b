import type { MessageStatusChanged } from '@dundun/messaging';

/** The category of a message that the platform does not bill. */
export const FREE = 'free';

/** Event of a report that says how the platform bills a message, and leaves its status. */
export const BILLED = 'billed';

/** Width of the column. */
const LONGEST_CATEGORY = 32;

type Details = MessageStatusChanged['details'] | null;

/** The category in which the platform bills a message, or {@link FREE}. `null`: the report does not say. */
export function reportedBy(details: Details): string | null {
  const billable = details?.['billable'];
  if (billable === 0) return FREE;
  const category = details?.['category'];
  return billable === 1 && typeof category === 'string'
    ? category.slice(0, LONGEST_CATEGORY)
    : null;
}

/** One report that a message is billed counts, in any order of the reports. */
export function reportedAfter(before: string | null, reported: string | null): string | null {
  return before === null || (before === FREE && reported !== null) ? reported : before;
}

/** Billed seconds of a call. `undefined`: the report does not say. */
export function secondsOf(details: Details): number | undefined {
  const seconds = Number(details?.['billed_seconds'] ?? details?.['duration'] ?? Number.NaN);
  return Number.isNaN(seconds) ? undefined : seconds;
}
